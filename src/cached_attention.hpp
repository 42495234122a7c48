#pragma once

#include "attention.hpp"
#include "kv_cache.hpp"

namespace softlookup {

/// Attention of new tokens over what the cache holds and themselves; afterwards the cache holds
/// them. q [B, Hq, T, E], k and v [B, Hkv, T, E]; the weights are [B, Hq, T, longest row], none on
/// the fast branch, and a trace is of the plain one.
/// Positions count from each row's past, so that causal holds for chunks of several tokens too: cut
/// into chunks or not, a sequence gives the same bits. Masks of `options` span all keys. The cache
/// changes last of all: when anything throws (what attention throws, and CACHE_FULL), it is as
/// before.
AttentionResult cached_attention(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                                 AttentionOptions options, KVCache& cache, const Chunk& chunk,
                                 Branch branch = Branch::plain, Trace* trace = nullptr);

}  // namespace softlookup
