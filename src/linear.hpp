#pragma once

#include "tensor.hpp"

namespace softlookup {

/// x Wᵀ + bias: x [B, L, in], weight [out, in] (torch's orientation), bias [out] or empty ->
/// [B, L, out]. Accumulates in double.
Tensor3 linear(const Tensor3& x, const Tensor2& weight, const Tensor1& bias);

}  // namespace softlookup
