#pragma once

#include <cstddef>
#include <vector>

#include "mask.hpp"

// Masks as arrays: made, combined, converted. What a mask means is in mask.hpp.

namespace softlookup {

/// [L, S]: j <= i (top left) or j <= i + S - L (bottom right).
NdBool causal_mask(std::size_t queries, std::size_t keys, Causal causal);

/// [L, S]: what a spec without masks, lengths and offsets lets through.
NdBool visibility_mask(std::size_t queries, std::size_t keys, const MaskSpec& spec);

/// [B, 1, 1, S]: lengths[b] real keys, the padding on `side`. Throws OPTION for a length above S.
NdBool padding_mask(const std::vector<std::size_t>& lengths, std::size_t keys, PaddingSide side);

/// A key mask [B, S] as a mask on scores, [B, 1, 1, S]. Throws MASK_SHAPE.
Mask key_mask_for_scores(const Mask& mask, std::size_t batch, std::size_t keys);

/// What a mask says of head h alone, its head axis (third from the end) cut down to 1.
Mask mask_of_head(const Mask& mask, std::size_t h);

/// All masks at once: logical AND, or the sum of additive masks as soon as one is additive.
Mask combine_masks(const std::vector<Mask>& masks);

/// 0 where true, -Infinity where false; an additive mask stays as it is.
NdArray to_additive(const Mask& mask);

}  // namespace softlookup
