#pragma once

#include "panels.hpp"
#include "tensor.hpp"

namespace softlookup {

/// Packed once, when it is loaded.
struct Projection {
  Panels weight;  // [out, in], torch's orientation
  Tensor1 bias;   // [out] or empty
};

Panels pack(const Tensor2& matrix);

/// Rows first ... first + count - 1.
Tensor2 unpack_rows(const Panels& packed, std::size_t first, std::size_t count);

/// x Wᵀ + bias: x [B, L, in], weight [out, in] (torch's orientation), bias [out] or empty ->
/// [B, L, out]. Accumulates in double.
Tensor3 linear(const Tensor3& x, const Tensor2& weight, const Tensor1& bias);

Tensor3 plain_linear(const Tensor3& x, const Projection& projection);

/// The same in float32, by the kernel. Each row's bits are its own, however many rows there are.
Tensor3 fast_linear(const Tensor3& x, const Projection& projection);

}  // namespace softlookup
