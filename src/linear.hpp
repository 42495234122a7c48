#pragma once

#include "tensor.hpp"

namespace softlookup {

struct Projection {
  Tensor2 weight;  // [out, in], torch's orientation
  Tensor1 bias;    // [out] or empty
};

/// x Wᵀ + bias: x [B, L, in], weight [out, in] (torch's orientation), bias [out] or empty ->
/// [B, L, out]. Accumulates in double.
Tensor3 linear(const Tensor3& x, const Tensor2& weight, const Tensor1& bias);

inline Tensor3 linear(const Tensor3& x, const Projection& projection) {
  return linear(x, projection.weight, projection.bias);
}

}  // namespace softlookup
