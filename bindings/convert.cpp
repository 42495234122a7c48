#include "convert.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "answer.hpp"
#include "error.hpp"

namespace softlookup::bindings {

namespace {

/// The shape, once it is known that the data fill it.
Shape filled_shape(const Value& tensor, const char* name) {
  Shape shape = to_shape(tensor, name);
  require_addressable(shape, name);
  const std::size_t length = tensor.get("data").size();
  std::size_t elements = 1;
  for (const std::size_t size : shape) {
    elements *= size;
  }
  if (length != elements) {
    fail(ErrorCode::SHAPE, "%: % elements do not fill its shape %", {name, length, shape});
  }
  return shape;
}

template <class Array>
Array copied_in(const Value& tensor, const Shape& shape) {
  Array array = Array::from_shape(shape);
  tensor.get("data").copy_to(array.data());
  return array;
}

}  // namespace

NdArray to_array(const Value& tensor, const char* name) {
  return copied_in<NdArray>(tensor, filled_shape(tensor, name));
}

Shape to_shape(const Value& tensor, const char* name) {
  return to_sizes(tensor.get("shape"), name);
}

std::size_t rank_of(const Value& tensor) { return tensor.get("shape").size(); }

template <std::size_t N>
xt::xtensor<float, N> to_tensor(const Value& tensor, const char* name, std::size_t least) {
  Shape shape = filled_shape(tensor, name);
  if (shape.size() < least || shape.size() > N) {
    if (least == N) {
      fail(ErrorCode::RANK, "% %: expected % axes", {name, shape, N});
    }
    fail(ErrorCode::RANK, "% %: expected % to % axes", {name, shape, least, N});
  }
  shape.insert(shape.begin(), N - shape.size(), 1);
  return copied_in<xt::xtensor<float, N>>(tensor, shape);
}

template xt::xtensor<float, 3> to_tensor<3>(const Value&, const char*, std::size_t);
template xt::xtensor<float, 4> to_tensor<4>(const Value&, const char*, std::size_t);

Mask to_mask(const Value& mask, const char* name) {
  const Shape shape = filled_shape(mask, name);
  if (mask.get("boolean").is_true()) {
    return copied_in<NdBool>(mask, shape);
  }
  return copied_in<NdArray>(mask, shape);
}

Mask with_batch_axis(Mask mask) {
  of_array(mask, [](auto& array) {
    if (array.dimension() == 1) {
      array.reshape(Shape{1, array.size()});
    }
  });
  return mask;
}

StateDict to_state_dict(const Value& names, const Value& tensors) {
  StateDict state;
  const auto count = names.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name(names[i].text());
    state.emplace(name, to_array(tensors[i], name.c_str()));
  }
  return state;
}

std::optional<Alignment> to_alignment(const Value& alignment) {
  if (alignment.is_undefined()) {
    return std::nullopt;
  }
  const bool top_left = alignment.is("top-left");
  if (!top_left && !alignment.is("bottom-right")) {
    fail(ErrorCode::OPTION, "align must be \"top-left\" or \"bottom-right\"");
  }
  return top_left ? Alignment::top_left : Alignment::bottom_right;
}

PaddingSide to_side(const Value& side) {
  const bool left = side.is("left");
  if (!left && !side.is_undefined() && !side.is("right")) {
    fail(ErrorCode::OPTION, "side must be \"left\" or \"right\"");
  }
  return left ? PaddingSide::left : PaddingSide::right;
}

void read_window(const Value& window, MaskSpec& spec) {
  if (window.is_undefined()) {
    return;
  }
  if (window.is_number()) {
    const std::size_t width = to_size(window, "window");
    if (width == 0) {
      fail(ErrorCode::OPTION, "window counts the query itself and must be at least 1");
    }
    spec.window_left = width - 1;
    spec.window_right = 0;
    return;
  }
  if (!window.is_object()) {
    fail(ErrorCode::OPTION, "window must be a number of keys or { left, right }");
  }
  if (window.has("left")) {
    spec.window_left = to_size(window.get("left"), "window.left");
  }
  if (window.has("right")) {
    spec.window_right = to_size(window.get("right"), "window.right");
  }
}

bool to_flag(const Value& flag, bool otherwise, const char* name) {
  if (flag.is_undefined()) {
    return otherwise;
  }
  if (!flag.is_true() && !flag.is_false()) {
    fail(ErrorCode::OPTION, "% must be true or false", {name});
  }
  return flag.is_true();
}

namespace {

/// The whole number, or -1 for anything else.
double whole_number(const Value& number) {
  constexpr double kLargest = 2147483647;
  const double value = number.number();
  return value >= 0 && value <= kLargest && std::trunc(value) == value ? value : -1;
}

}  // namespace

std::size_t to_size(const Value& number, const char* name) {
  const double value = whole_number(number);
  if (value < 0) {
    fail(ErrorCode::OPTION, "% must be a whole number, 0 or more", {name});
  }
  return static_cast<std::size_t>(value);
}

Shape to_sizes(const Value& numbers, const char* name) {
  if (!numbers.is_list()) {
    fail(ErrorCode::OPTION, "% must be an array of whole numbers", {name});
  }
  Shape sizes(numbers.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double value = whole_number(numbers[i]);
    if (value < 0) {
      fail(ErrorCode::OPTION, "%[%] must be a whole number, 0 or more", {name, i});
    }
    sizes[i] = static_cast<std::size_t>(value);
  }
  return sizes;
}

bool flag_in(const Value& options, const char* name, bool otherwise) {
  return to_flag(options.get(name), otherwise, name);
}

std::size_t size_in(const Value& options, const char* name) {
  return to_size(options.get(name), name);
}

std::optional<Mask> optional_mask_in(const Value& options, const char* name) {
  const Value& mask = options.get(name);
  return mask.is_undefined() ? std::nullopt : std::optional<Mask>(to_mask(mask, name));
}

std::optional<float> optional_number_in(const Value& options, const char* name) {
  const Value& number = options.get(name);
  if (number.is_undefined()) {
    return std::nullopt;
  }
  if (!number.is_number()) {
    fail(ErrorCode::OPTION, "% must be a number", {name});
  }
  return static_cast<float>(number.number());
}

std::vector<float> numbers_in(const Value& options, const char* name) {
  const Value& tensor = options.get(name);
  if (tensor.is_undefined()) {
    return {};
  }
  const NdArray array = to_array(tensor, name);
  if (array.dimension() != 1) {
    fail(ErrorCode::RANK, "% %: expected 1 axis", {name, array.shape()});
  }
  return {array.begin(), array.end()};
}

Causal causal_in(const Value& options) {
  const Value& causal = options.get("causal");
  if (causal.is_undefined() || causal.is_false()) {
    return Causal::none;
  }
  if (causal.is_true()) {
    return Causal::square;
  }
  if (causal.is("top-left")) {
    return Causal::top_left;
  }
  if (causal.is("bottom-right")) {
    return Causal::bottom_right;
  }
  fail(ErrorCode::OPTION, "causal must be true, false, \"top-left\" or \"bottom-right\"");
}

void require_out(const Value& out, const Shape& shape) {
  std::size_t elements = 1;
  for (const std::size_t size : shape) {
    elements *= size;
  }
  if (!out.is_undefined() && out.size() != elements) {
    fail(ErrorCode::SHAPE, "out [%] does not hold the output %", {out.size(), shape});
  }
}

void give_mask(const Mask& mask) {
  of_array(mask, [](const auto& array) { give_tensor(array); });
}

void give_trace(const Trace& trace, std::size_t dropped) {
  for (const TraceStep& step : trace.steps()) {
    give(std::string_view(step.id));
    give(std::string_view(step.formula));
    give_shape(step.tensor, dropped);
    give_tensor(step.tensor, dropped);
    give_object("id formula shape tensor");
  }
  give_list(trace.steps().size());
  give_object("steps");
}

}  // namespace softlookup::bindings
