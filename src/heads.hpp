#pragma once

#include "tensor.hpp"

namespace softlookup {

/// [B, L, H*E] -> [B, H, L, E]: columns h*E ... h*E+E-1 belong to head h. Throws HEADS.
Tensor4 split_heads(const Tensor3& x, std::size_t heads);

/// The same where they lie, copying nothing. Throws HEADS.
View4<const float> heads_of(const Tensor3& x, std::size_t heads);
View4<float> heads_of(Tensor3& x, std::size_t heads);

/// [B, H, L, E] -> [B, L, H*E], the inverse of split_heads.
Tensor3 merge_heads(const Tensor4& x);

/// [B, Hkv, L, E] -> [B, Hkv * n, L, E]: head h of the result is head h / n of x, each head n times
/// in a row (not the whole list n times). Throws HEADS for n = 0.
Tensor4 repeat_kv(const Tensor4& x, std::size_t n);

}  // namespace softlookup
