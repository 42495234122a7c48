#pragma once

#include "tensor.hpp"

namespace softlookup {

/// [B, L, H*E] -> [B, H, L, E]: columns h*E ... h*E+E-1 belong to head h. Throws HEADS.
Tensor4 split_heads(const Tensor3& x, std::size_t heads);

/// [B, H, L, E] -> [B, L, H*E], the inverse of split_heads.
Tensor3 merge_heads(const Tensor4& x);

}  // namespace softlookup
