#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rope.hpp"
#include "tensor.hpp"
#include "value.hpp"

namespace softlookup::bindings {

/// { layout, theta, dims, inverse, scaling }; all but the layout may be undefined.
RopeOptions to_rope_options(const Value& options);

/// { type: "yarn", factor, originalMaxPositions, betaFast, betaSlow, attentionFactor } or
/// undefined.
std::optional<YarnScaling> to_scaling(const Value& scaling);

/// Whole numbers come as { data: Float64Array, shape: number[] }, which holds every position
/// exactly; float32 does not.
struct PositionArray {
  Shape shape;
  std::vector<std::int64_t> values;
};
PositionArray to_position_array(const Value& positions, const char* name = "positions");

/// undefined: 0, 1, ...; a number: on from there; an array [L] or [B, L], as rope wants it.
std::vector<std::int64_t> to_positions(const Value& positions, std::size_t batch,
                                       std::size_t length);

double to_double(const Value& number, double otherwise, const char* name);

}  // namespace softlookup::bindings
