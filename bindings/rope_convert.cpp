#include "rope_convert.hpp"

#include <cmath>
#include <limits>

#include "convert.hpp"
#include "error.hpp"

namespace softlookup::bindings {

namespace {

RopeLayout to_layout(const Value& layout) {
  if (layout.is("half")) {
    return RopeLayout::half;
  }
  if (layout.is("interleaved")) {
    return RopeLayout::interleaved;
  }
  fail(ErrorCode::OPTION,
       "layout must be \"half\" (features i and i + dims / 2 turn together) or \"interleaved\" (2 "
       "i and 2 i + 1)");
}

/// Whether a position is in range, the core knows; here it must only be an integer.
std::int64_t to_position(double value, const char* name) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (!(std::abs(value) <= kExact) || std::trunc(value) != value) {
    fail(ErrorCode::OPTION, "% must be whole numbers, 0 to %", {name, kLargestPosition});
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace

RopeOptions to_rope_options(const Value& options) {
  RopeOptions rope{};
  rope.layout = to_layout(options.get("layout"));
  rope.theta = to_double(options.get("theta"), rope.theta, "theta");
  if (options.has("dims")) {
    rope.dims = size_in(options, "dims");
    if (rope.dims == 0) {
      fail(ErrorCode::OPTION, "dims must be above 0");
    }
  }
  rope.inverse = flag_in(options, "inverse", false);
  rope.scaling = to_scaling(options.get("scaling"));
  return rope;
}

std::optional<YarnScaling> to_scaling(const Value& scaling) {
  if (scaling.is_undefined()) {
    return std::nullopt;
  }
  if (!scaling.get("type").is("yarn")) {
    fail(ErrorCode::OPTION, "scaling.type must be \"yarn\"");
  }
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();  // refused by the core
  YarnScaling yarn{};
  yarn.factor = to_double(scaling.get("factor"), kMissing, "scaling.factor");
  yarn.original_max_positions =
      to_double(scaling.get("originalMaxPositions"), kMissing, "scaling.originalMaxPositions");
  yarn.beta_fast = to_double(scaling.get("betaFast"), yarn.beta_fast, "scaling.betaFast");
  yarn.beta_slow = to_double(scaling.get("betaSlow"), yarn.beta_slow, "scaling.betaSlow");
  if (scaling.has("attentionFactor")) {
    yarn.attention_factor = to_double(scaling.get("attentionFactor"), 1, "scaling.attentionFactor");
  }
  return yarn;
}

PositionArray to_position_array(const Value& positions, const char* name) {
  PositionArray array{to_shape(positions, name), {}};
  const Value& data = positions.get("data");
  std::vector<double> numbers(data.size());
  double elements = 1;
  for (const std::size_t size : array.shape) {
    elements *= static_cast<double>(size);
  }
  if (static_cast<double>(numbers.size()) != elements) {
    fail(ErrorCode::SHAPE, "%: % elements do not fill their shape %",
         {name, numbers.size(), array.shape});
  }
  data.copy_to(numbers.data());
  for (const double number : numbers) {
    array.values.push_back(to_position(number, name));
  }
  return array;
}

std::vector<std::int64_t> to_positions(const Value& positions, std::size_t batch,
                                       std::size_t length) {
  if (positions.is_undefined()) {
    return running_positions(0, length);
  }
  if (positions.is_number()) {
    return running_positions(to_position(positions.number(), "positions"), length);
  }
  PositionArray array = to_position_array(positions);
  if (array.shape != Shape{length} && array.shape != Shape{batch, length}) {
    fail(ErrorCode::SHAPE, "positions %, expected [L] = % or [B, L] = %",
         {array.shape, std::array<std::size_t, 1>{length},
          std::array<std::size_t, 2>{batch, length}});
  }
  return std::move(array.values);
}

double to_double(const Value& number, double otherwise, const char* name) {
  if (number.is_undefined()) {
    return otherwise;
  }
  if (!number.is_number()) {
    fail(ErrorCode::OPTION, "% must be a number", {name});
  }
  return number.number();
}

}  // namespace softlookup::bindings
