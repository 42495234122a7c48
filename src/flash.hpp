#pragma once

#include <cstddef>
#include <vector>

#include "attention.hpp"
#include "panels.hpp"
#include "tensor.hpp"

namespace softlookup {

/// Keys and values of every batch row and key/value head as the kernel reads them.
struct PackedKeyValues {
  std::vector<Panels> keys;    // [B * Hkv], each [S, E]
  std::vector<Panels> values;  // [B * Hkv], each [Ev, S]: a value's elements are the rows
};

/// The same attention as attention() of attention.hpp, without the matrix of weights: blocks of
/// keys go by, and each query keeps a running maximum, a running sum and a running output (Dao et
/// al. 2022, FlashAttention). No memory beyond O((L + S)(E + Ev)) is taken.
///
/// It computes in float32, with 8 queries side by side, and is exact to 2e-6 on unit-scale inputs;
/// a row that does not come out finite that way is computed anew in double. A row's bits depend on
/// what the row sees and on nothing else: not on hidden keys, nor other rows, nor how many there
/// are, nor how the keys are cut into calls with a cache.
/// Throws what attention() throws.
Tensor4 flash_attention(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                        const AttentionOptions& options);

/// The same from and into memory that the caller keeps; output [B, Hq, L, Ev].
void flash_attention(const View4<const float>& q, const View4<const float>& k,
                     const View4<const float>& v, const AttentionOptions& options,
                     const View4<float>& output);

/// On the branch named; a trace is of the plain one, and the fast one has no weights.
AttentionResult attend(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                       const AttentionOptions& options, Branch branch, Trace* trace = nullptr);

/// Over keys and values packed before, which may have room for more than `keys` keys.
Tensor4 flash_attention(const Tensor4& q, const PackedKeyValues& packed, std::size_t kv_heads,
                        std::size_t value_dim, std::size_t keys, const AttentionOptions& options);

}  // namespace softlookup
