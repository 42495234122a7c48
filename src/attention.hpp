#pragma once

#include <optional>
#include <vector>

#include "mask.hpp"
#include "tensor.hpp"
#include "trace.hpp"

namespace softlookup {

/// How an attention is computed. plain: pass by pass as it is written, each pass accumulating in
/// double. fast: by the kernel of flash.hpp, without a matrix of weights; with_weights: the same
/// output to the bit, and the weights by the plain passes beside it. The outputs of plain and fast
/// agree to 2e-6 on unit-scale inputs.
enum class Branch { plain, fast, with_weights };

struct AttentionOptions : MaskSpec {
  std::optional<float> scale;    // default 1 / sqrt(E)
  std::optional<float> softcap;  // c tanh(s / c) after the scale, before the mask (Gemma 2)
  std::vector<float> sinks;      // [Hq] or empty, see softmax
};

struct AttentionResult {
  Tensor4 output;   // [B, Hq, L, Ev]
  Tensor4 weights;  // [B, Hq, L, S]
};

/// Scaled dot-product attention, softmax(Q K^T * scale + mask) V (Vaswani et al. 2017, 3.2.1), pass
/// by pass. Query head h reads key/value head h / (Hq / Hkv).
///
/// q [B, Hq, L, E], k [B, Hkv, S, E], v [B, Hkv, S, Ev]. Each pass is stored in float32 and
/// accumulates in double. What k and v hold at a hidden place cannot matter, and a row without a
/// visible key is 0. `trace`, where given, receives every pass.
/// Throws SHAPE, HEADS, OPTION, MASK_SHAPE, MASK_VALUE, AMBIGUOUS_CAUSAL.
AttentionResult attention(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                          const AttentionOptions& options, Trace* trace = nullptr);

/// c tanh(score / c)
void cap_softly(float* scores, std::size_t count, float cap);

/// Pass 1: q_i . k_j -> [B, Hq, L, S]
Tensor4 dot_products(const Tensor4& q, const Tensor4& k);

/// Last pass: sum over visible j of w_ij v_j -> [B, Hq, L, Ev]
Tensor4 weighted_sum(const Tensor4& weights, const Tensor4& v, const MaskRule& rule);

}  // namespace softlookup
