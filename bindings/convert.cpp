#include "convert.hpp"

#include <cmath>
#include <cstdint>

#include "error.hpp"

namespace softlookup::bindings {

namespace {

template <class Array>
Array copied_in(const val& tensor, const std::string& name) {
  const Shape shape = to_shape(tensor, name);
  require_addressable(shape, name);
  const val data = tensor["data"];
  const auto length = data["length"].as<std::size_t>();
  std::size_t elements = 1;
  for (const std::size_t size : shape) {
    elements *= size;
  }
  if (length != elements) {
    throw Error(ErrorCode::SHAPE, name + ": " + std::to_string(length) +
                                      " elements do not fill its shape " + shape_text(shape));
  }
  Array array = Array::from_shape(shape);
  // After the allocation: growing memory would leave an earlier view stale.
  val(emscripten::typed_memory_view(array.size(), array.data())).call<void>("set", data);
  return array;
}

template <class Array>
val copied_out(const Array& array, std::size_t dropped, const char* type) {
  const val view(emscripten::typed_memory_view(array.size(), array.data()));
  val tensor = val::object();
  tensor.set("data", val::global(type).new_(view));
  val shape = val::array();
  for (std::size_t axis = dropped; axis < array.dimension(); ++axis) {
    shape.call<void>("push", array.shape(axis));
  }
  tensor.set("shape", shape);
  return tensor;
}

}  // namespace

NdArray to_array(const val& tensor, const std::string& name) {
  return copied_in<NdArray>(tensor, name);
}

Shape to_shape(const val& tensor, const std::string& name) {
  return to_sizes(tensor["shape"], name + ".shape");
}

std::size_t rank_of(const val& tensor) { return tensor["shape"]["length"].as<std::size_t>(); }

template <std::size_t N>
xt::xtensor<float, N> to_tensor(const val& tensor, const std::string& name, std::size_t least) {
  NdArray array = to_array(tensor, name);
  if (array.dimension() < least || array.dimension() > N) {
    const std::string wanted =
        least == N ? std::to_string(N) : std::to_string(least) + " to " + std::to_string(N);
    throw Error(ErrorCode::RANK,
                name + " " + shape_text(array.shape()) + ": expected " + wanted + " axes");
  }
  Shape shape(N - array.dimension(), 1);
  shape.insert(shape.end(), array.shape().begin(), array.shape().end());
  array.reshape(shape);
  return array;
}

template xt::xtensor<float, 3> to_tensor<3>(const val&, const std::string&, std::size_t);
template xt::xtensor<float, 4> to_tensor<4>(const val&, const std::string&, std::size_t);

Mask to_mask(const val& mask) {
  if (mask["boolean"].as<bool>()) {
    return copied_in<NdBool>(mask, "mask");
  }
  return copied_in<NdArray>(mask, "mask");
}

std::optional<Mask> to_optional_mask(const val& mask) {
  return mask.isUndefined() ? std::nullopt : std::optional<Mask>(to_mask(mask));
}

Causal to_causal(const val& causal) {
  if (causal.isUndefined() || causal.isFalse()) {
    return Causal::none;
  }
  if (causal.isTrue()) {
    return Causal::square;
  }
  if (causal.isString()) {
    const auto alignment = causal.as<std::string>();
    if (alignment == "top-left") {
      return Causal::top_left;
    }
    if (alignment == "bottom-right") {
      return Causal::bottom_right;
    }
  }
  throw Error(ErrorCode::OPTION, "causal must be true, false, \"top-left\" or \"bottom-right\"");
}

std::optional<float> to_optional_number(const val& number, const std::string& name) {
  if (number.isUndefined()) {
    return std::nullopt;
  }
  if (!number.isNumber()) {
    throw Error(ErrorCode::OPTION, name + " must be a number");
  }
  return number.as<float>();
}

bool to_flag(const val& flag, bool otherwise, const std::string& name) {
  if (flag.isUndefined()) {
    return otherwise;
  }
  if (!flag.isTrue() && !flag.isFalse()) {
    throw Error(ErrorCode::OPTION, name + " must be true or false");
  }
  return flag.isTrue();
}

std::size_t to_size(const val& number, const std::string& name) {
  constexpr double kLargest = 2147483647;
  const double value = number.isNumber() ? number.as<double>() : -1;
  if (!(value >= 0) || value > kLargest || std::trunc(value) != value) {
    throw Error(ErrorCode::OPTION, name + " must be a whole number, 0 or more");
  }
  return static_cast<std::size_t>(value);
}

Shape to_sizes(const val& numbers, const std::string& name) {
  if (!numbers.isArray()) {
    throw Error(ErrorCode::OPTION, name + " must be an array of whole numbers");
  }
  Shape sizes(numbers["length"].as<std::size_t>());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = to_size(numbers[i], name + "[" + std::to_string(i) + "]");
  }
  return sizes;
}

val from_array(const NdArray& array, std::size_t dropped) {
  return copied_out(array, dropped, "Float32Array");
}

val from_mask(const Mask& mask) {
  if (const auto* keep = std::get_if<NdBool>(&mask)) {
    return copied_out(*keep, 0, "Uint8Array");
  }
  return from_array(std::get<NdArray>(mask));
}

val from_trace(const Trace& trace, std::size_t dropped) {
  val steps = val::array();
  for (const TraceStep& step : trace.steps()) {
    val entry = val::object();
    const val tensor = from_array(step.tensor, dropped);
    entry.set("id", step.id);
    entry.set("formula", step.formula);
    entry.set("shape", tensor["shape"]);
    entry.set("tensor", tensor);
    steps.call<void>("push", entry);
  }
  val trace_object = val::object();
  trace_object.set("steps", steps);
  return trace_object;
}

}  // namespace softlookup::bindings
