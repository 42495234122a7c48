#pragma once

#include "tensor.hpp"

namespace softlookup {

/// Where the caller names none.
constexpr double kRmsNormEps = 1e-6;

/// Root mean square norm (Zhang & Sennrich 2019) over the last axis,
///   y = x / sqrt(mean(x^2) + eps) * weight,
/// or * (1 + weight) with `unit_offset` (Gemma). x [..., D]; weight [D], or empty for none. The
/// mean runs in double precision. A row of zeros stays one, with eps = 0 too.
/// Throws RANK for a number without axis, SHAPE, OPTION.
NdArray rms_norm(const NdArray& x, const Tensor1& weight, double eps, bool unit_offset = false);

/// The same for heads: x [B, H, L, E], each head of each token on its own, weight [E].
Tensor4 rms_norm(const Tensor4& x, const Tensor1& weight, double eps, bool unit_offset = false);

}  // namespace softlookup
