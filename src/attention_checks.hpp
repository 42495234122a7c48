#pragma once

#include <cstddef>
#include <optional>

#include "tensor.hpp"

namespace softlookup {

/// Shapes as a caller gives them: all of the same rank, 2 to 4, a missing batch or head axis
/// counting as 1. Throws RANK, SHAPE, HEADS; the message shows them as given.
void require_attention_shapes(const ShapeView& q, const ShapeView& k, const ShapeView& v);

/// What scores are multiplied with, 1 / sqrt(head dim) unless named. Throws OPTION.
float resolve_scale(const std::optional<float>& scale, std::size_t head_dim);

/// Throws OPTION unless it is above 0.
void require_valid_softcap(const std::optional<float>& cap);

}  // namespace softlookup
