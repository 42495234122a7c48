#pragma once

#include <vector>

#include "mask.hpp"
#include "tensor.hpp"
#include "trace.hpp"

namespace softlookup {

/// Softmax over the last axis, in place, in the passes of its formula
///   w_ij = exp(s_ij - m_i) / sum_j exp(s_ij - m_i),   m_i = max_j s_ij.
/// scores [B, H, L, S] already masked: -Infinity has weight 0, and a row of nothing else is all 0.
/// The maximum is subtracted first, so no score overflows; sums run in double precision.
/// `sinks` [H] or empty: one more logit a head that takes part in maximum and sum and has no column
/// (Xiao et al. 2023; gpt-oss), so that rows sum to less than 1.
void softmax(Tensor4& scores, Trace* trace, const std::vector<float>& sinks = {});

/// Throws SHAPE unless there is a sink for each head, or none, OPTION unless they are finite.
void require_valid_sinks(const std::vector<float>& sinks, std::size_t heads);

/// The same with the mask applied before: the pass "masked", then the passes above.
void masked_softmax(Tensor4& scores, const MaskRule& rule, Trace* trace,
                    const std::vector<float>& sinks = {});

/// [B, H, L]: largest score of a row; -Infinity in a row without a permitted key.
Tensor3 row_max(const Tensor4& scores);

}  // namespace softlookup
