#include "convert.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "error.hpp"
#include "property.hpp"

namespace softlookup::bindings {

namespace {

template <class Array>
val view_of(const Array& array) {
  return val(emscripten::typed_memory_view(array.size(), array.data()));
}

/// The shape, once it is known that the data fill it.
Shape filled_shape(const val& tensor, std::string_view name) {
  Shape shape = to_shape(tensor, name);
  require_addressable(shape, std::string(name));
  const auto length = get(get(tensor, "data"), "length").as<std::size_t>();
  std::size_t elements = 1;
  for (const std::size_t size : shape) {
    elements *= size;
  }
  if (length != elements) {
    throw Error(ErrorCode::SHAPE, {name, ": ", std::to_string(length),
                                   " elements do not fill its shape ", shape_text(shape)});
  }
  return shape;
}

template <class Array>
Array copied_in(const val& tensor, const Shape& shape) {
  Array array = Array::from_shape(shape);
  // After the allocation: growing memory would leave an earlier view stale.
  view_of(array).template call<void>("set", get(tensor, "data"));
  return array;
}

template <class Array>
val described(const val& data, const Array& array, std::size_t dropped) {
  val tensor = val::object();
  put(tensor, "data", data);
  val shape = val::array();
  for (std::size_t axis = dropped; axis < array.dimension(); ++axis) {
    shape.call<void>("push", array.shape(axis));
  }
  put(tensor, "shape", shape);
  return tensor;
}

}  // namespace

NdArray to_array(const val& tensor, std::string_view name) {
  return copied_in<NdArray>(tensor, filled_shape(tensor, name));
}

Shape to_shape(const val& tensor, std::string_view name) {
  return to_sizes(get(tensor, "shape"), name);
}

std::size_t rank_of(const val& tensor) { return get(tensor, "shape")["length"].as<std::size_t>(); }

template <std::size_t N>
xt::xtensor<float, N> to_tensor(const val& tensor, std::string_view name, std::size_t least) {
  Shape shape = filled_shape(tensor, name);
  if (shape.size() < least || shape.size() > N) {
    const std::string wanted =
        least == N ? std::to_string(N) : std::to_string(least) + " to " + std::to_string(N);
    throw Error(ErrorCode::RANK, {name, " ", shape_text(shape), ": expected ", wanted, " axes"});
  }
  shape.insert(shape.begin(), N - shape.size(), 1);
  return copied_in<xt::xtensor<float, N>>(tensor, shape);
}

template xt::xtensor<float, 3> to_tensor<3>(const val&, std::string_view, std::size_t);
template xt::xtensor<float, 4> to_tensor<4>(const val&, std::string_view, std::size_t);

Mask to_mask(const val& mask, std::string_view name) {
  const Shape shape = filled_shape(mask, name);
  if (get(mask, "boolean").as<bool>()) {
    return copied_in<NdBool>(mask, shape);
  }
  return copied_in<NdArray>(mask, shape);
}

std::optional<Mask> to_optional_mask(const val& mask, std::string_view name) {
  return mask.isUndefined() ? std::nullopt : std::optional<Mask>(to_mask(mask, name));
}

Mask with_batch_axis(Mask mask) {
  std::visit(
      [](auto& array) {
        if (array.dimension() == 1) {
          array.reshape(Shape{1, array.size()});
        }
      },
      mask);
  return mask;
}

StateDict to_state_dict(const val& names, const val& tensors) {
  StateDict state;
  const auto count = get(names, "length").as<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = names[i].as<std::string>();
    state.emplace(name, to_array(tensors[i], name));
  }
  return state;
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
  throw Error(ErrorCode::OPTION, {"causal must be true, false, \"top-left\" or \"bottom-right\""});
}

std::optional<Alignment> to_alignment(const val& alignment) {
  if (alignment.isUndefined()) {
    return std::nullopt;
  }
  const auto name = alignment.isString() ? alignment.as<std::string>() : "";
  if (name != "top-left" && name != "bottom-right") {
    throw Error(ErrorCode::OPTION, {"align must be \"top-left\" or \"bottom-right\""});
  }
  return name == "top-left" ? Alignment::top_left : Alignment::bottom_right;
}

PaddingSide to_side(const val& side) {
  const std::string name = side.isUndefined() ? "right"
                           : side.isString()  ? side.as<std::string>()
                                              : "";
  if (name != "left" && name != "right") {
    throw Error(ErrorCode::OPTION, {"side must be \"left\" or \"right\""});
  }
  return name == "left" ? PaddingSide::left : PaddingSide::right;
}

void read_window(const val& window, MaskSpec& spec) {
  if (window.isUndefined()) {
    return;
  }
  if (window.isNumber()) {
    const std::size_t width = to_size(window, "window");
    if (width == 0) {
      throw Error(ErrorCode::OPTION, {"window counts the query itself and must be at least 1"});
    }
    spec.window_left = width - 1;
    spec.window_right = 0;
    return;
  }
  if (window.isNull() || window.typeOf().as<std::string>() != "object") {
    throw Error(ErrorCode::OPTION, {"window must be a number of keys or { left, right }"});
  }
  if (has(window, "left")) {
    spec.window_left = to_size(get(window, "left"), "window.left");
  }
  if (has(window, "right")) {
    spec.window_right = to_size(get(window, "right"), "window.right");
  }
}

std::vector<float> to_numbers(const val& tensor, std::string_view name) {
  if (tensor.isUndefined()) {
    return {};
  }
  const NdArray array = to_array(tensor, name);
  if (array.dimension() != 1) {
    throw Error(ErrorCode::RANK, {name, " ", shape_text(array.shape()), ": expected 1 axis"});
  }
  return {array.begin(), array.end()};
}

std::optional<float> to_optional_number(const val& number, std::string_view name) {
  if (number.isUndefined()) {
    return std::nullopt;
  }
  if (!number.isNumber()) {
    throw Error(ErrorCode::OPTION, {name, " must be a number"});
  }
  return number.as<float>();
}

bool to_flag(const val& flag, bool otherwise, std::string_view name) {
  if (flag.isUndefined()) {
    return otherwise;
  }
  if (!flag.isTrue() && !flag.isFalse()) {
    throw Error(ErrorCode::OPTION, {name, " must be true or false"});
  }
  return flag.isTrue();
}

namespace {

/// The whole number, or -1 for anything else.
double whole_number(const val& number) {
  constexpr double kLargest = 2147483647;
  const double value = number.isNumber() ? number.as<double>() : -1;
  return value >= 0 && value <= kLargest && std::trunc(value) == value ? value : -1;
}

}  // namespace

std::size_t to_size(const val& number, std::string_view name) {
  const double value = whole_number(number);
  if (value < 0) {
    throw Error(ErrorCode::OPTION, {name, " must be a whole number, 0 or more"});
  }
  return static_cast<std::size_t>(value);
}

Shape to_sizes(const val& numbers, std::string_view name) {
  if (!numbers.isArray()) {
    throw Error(ErrorCode::OPTION, {name, " must be an array of whole numbers"});
  }
  Shape sizes(get(numbers, "length").as<std::size_t>());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double value = whole_number(numbers[i]);
    if (value < 0) {
      throw Error(ErrorCode::OPTION,
                  {name, "[", std::to_string(i), "] must be a whole number, 0 or more"});
    }
    sizes[i] = static_cast<std::size_t>(value);
  }
  return sizes;
}

__attribute__((noinline)) bool flag_in(const val& options, const char* name, bool otherwise) {
  return to_flag(get(options, name), otherwise, name);
}

__attribute__((noinline)) std::size_t size_in(const val& options, const char* name) {
  return to_size(get(options, name), name);
}

__attribute__((noinline)) std::optional<Mask> optional_mask_in(const val& options,
                                                               const char* name) {
  return to_optional_mask(get(options, name), name);
}

__attribute__((noinline)) std::optional<float> optional_number_in(const val& options,
                                                                  const char* name) {
  return to_optional_number(get(options, name), name);
}

__attribute__((noinline)) std::vector<float> numbers_in(const val& options, const char* name) {
  return to_numbers(get(options, name), name);
}

__attribute__((noinline)) Causal causal_in(const val& options) {
  return to_causal(get(options, "causal"));
}

val from_array(const NdArray& array, std::size_t dropped) {
  return described(val::global("Float32Array").new_(view_of(array)), array, dropped);
}

val from_array_into(const val& out, const NdArray& array, std::size_t dropped) {
  if (out.isUndefined()) {
    return from_array(array, dropped);
  }
  out.call<void>("set", view_of(array));
  return described(out, array, dropped);
}

void require_out(const val& out, const Shape& shape) {
  std::size_t elements = 1;
  for (const std::size_t size : shape) {
    elements *= size;
  }
  if (!out.isUndefined() && get(out, "length").as<std::size_t>() != elements) {
    throw Error(ErrorCode::SHAPE, {"out [", std::to_string(get(out, "length").as<std::size_t>()),
                                   "] does not hold the output ", shape_text(shape)});
  }
}

val attention_answer(const val& output, bool need_weights, const NdArray& weights,
                     std::size_t dropped) {
  val answer = val::object();
  put(answer, "output", output);
  if (need_weights) {
    put(answer, "weights", from_array(weights, dropped));
  }
  return answer;
}

val from_mask(const Mask& mask) {
  if (const auto* keep = std::get_if<NdBool>(&mask)) {
    return described(val::global("Uint8Array").new_(view_of(*keep)), *keep, 0);
  }
  return from_array(std::get<NdArray>(mask));
}

val from_trace(const Trace& trace, std::size_t dropped) {
  val steps = val::array();
  for (const TraceStep& step : trace.steps()) {
    val entry = val::object();
    const val tensor = from_array(step.tensor, dropped);
    put(entry, "id", step.id);
    put(entry, "formula", step.formula);
    put(entry, "shape", get(tensor, "shape"));
    put(entry, "tensor", tensor);
    steps.call<void>("push", entry);
  }
  val trace_object = val::object();
  put(trace_object, "steps", steps);
  return trace_object;
}

}  // namespace softlookup::bindings
