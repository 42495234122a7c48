#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "tensor.hpp"

namespace softlookup {

/// Boolean: non-zero = the pair takes part. Float: added to the scores, -Infinity = no part.
using Mask = std::variant<NdBool, NdArray>;

/// Where the diagonal lies. `square` wants L = S; the other two are named for L != S.
enum class Causal { none, square, top_left, bottom_right };

/// [B, H, L, S]
using ScoreShape = std::array<std::size_t, 4>;

/// Every mask of one attention call, resolved against the shape of its scores. All of them apply.
class MaskRule {
 public:
  /// The last `free_keys` keys stand outside masks and causality: every query sees them.
  /// Throws MASK_SHAPE, MASK_VALUE, AMBIGUOUS_CAUSAL.
  MaskRule(std::vector<Mask> masks, Causal causal, const ScoreShape& shape,
           std::size_t free_keys = 0);

  /// What to add to a score: -Infinity where key j is hidden from query i.
  [[nodiscard]] float bias(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const;

  [[nodiscard]] bool hides(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const;

 private:
  struct Broadcast {
    Mask mask;
    std::array<std::size_t, 4> strides;  // 0 along a broadcast axis
  };

  [[nodiscard]] std::size_t causal_end(std::size_t i) const;

  std::vector<Broadcast> masks_;
  Causal causal_;
  std::size_t queries_;
  std::size_t masked_keys_;  // S without the free keys
};

/// scores [B, H, L, S] + bias. A hidden place becomes -Infinity whatever stood there, NaN included.
void apply_mask(Tensor4& scores, const MaskRule& rule);

/// [L, S]: j <= i (top left) or j <= i + S - L (bottom right).
NdBool causal_mask(std::size_t queries, std::size_t keys, Causal causal);

enum class PaddingSide { left, right };

/// [B, 1, 1, S]: lengths[b] real keys, the padding on `side`. Throws OPTION for a length above S.
NdBool padding_mask(const std::vector<std::size_t>& lengths, std::size_t keys, PaddingSide side);

/// All masks at once: logical AND, or the sum of additive masks as soon as one is additive.
Mask combine_masks(const std::vector<Mask>& masks);

/// 0 where true, -Infinity where false; an additive mask stays as it is.
NdArray to_additive(const Mask& mask);

}  // namespace softlookup
