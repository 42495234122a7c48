#pragma once

#include <optional>

#include "mask.hpp"
#include "tensor.hpp"
#include "trace.hpp"

namespace softlookup {

/// By the letters of the paper. A is the width in which query and key meet.
struct AdditiveParameters {
  Tensor2 w;  // [A, Dq]
  Tensor2 u;  // [A, Dk]
  Tensor1 v;  // [A]
  Tensor1 b;  // [A] or empty
};

struct AdditiveResult {
  Tensor3 output;   // [B, L, Ev]
  Tensor3 weights;  // [B, L, S]
};

/// Additive attention (Bahdanau et al. 2014, A.1.2),
///   score_ij = v . tanh(W q_i + U k_j + b),
/// then softmax and weighted sum as everywhere. query [B, L, Dq], key [B, S, Dk], value [B, S, Ev];
/// `mask` broadcasts to [B, L, S]. What key and value hold at a hidden place cannot matter, and a
/// row without a visible key is 0. `trace`, where given, receives every pass with one axis of 1 in
/// front, since the batch stands where other attention has its heads.
/// Throws SHAPE, MASK_SHAPE, MASK_VALUE.
AdditiveResult additive_attention(const Tensor3& query, const Tensor3& key, const Tensor3& value,
                                  const AdditiveParameters& parameters,
                                  const std::optional<Mask>& mask, Trace* trace = nullptr);

/// Shapes as a caller gives them, with or without batch axis. Throws RANK, SHAPE.
void require_additive_shapes(const Shape& query, const Shape& key, const Shape& value);

}  // namespace softlookup
