#pragma once

#include <optional>

#include "tensor.hpp"

namespace softlookup {

/// Linear attention (Katharopoulos et al. 2020), phi(x) = elu(x) + 1:
///   o_i = phi(q_i) . sum_j phi(k_j) v_j^T / (phi(q_i) . sum_j phi(k_j) + eps),
/// causal with j <= i, as running sums: O(L + S) instead of O(L S).
/// q [B, Hq, L, E], k [B, Hkv, S, E], v [B, Hkv, S, Ev] -> [B, Hq, L, Ev]; query head h reads
/// key/value head h / (Hq / Hkv). key_mask [B, S], non-zero = may be attended to; what k and v hold
/// at a hidden key cannot matter. Sums run in double precision; a row whose divisor is 0 is 0.
/// Throws SHAPE, HEADS, OPTION, MASK_SHAPE, and AMBIGUOUS_CAUSAL for causal with L != S.
Tensor4 linear_attention(const Tensor4& q, const Tensor4& k, const Tensor4& v, bool causal,
                         const std::optional<NdBool>& key_mask, double eps);

}  // namespace softlookup
