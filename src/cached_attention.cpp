#include "cached_attention.hpp"

#include "attention_checks.hpp"
#include "error.hpp"
#include "flash.hpp"

namespace softlookup {

AttentionResult cached_attention(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                                 AttentionOptions options, KVCache& cache, const Chunk& chunk,
                                 Branch branch, Trace* trace) {
  cache.require_room(k, v, chunk);
  require_attention_shapes(q.shape(), k.shape(), v.shape());
  const std::size_t tokens = k.shape(2);
  if (q.shape(2) != tokens) {  // a query's position is its token's
    fail(ErrorCode::SHAPE, "q %, k %: with a cache, as many queries as new keys are expected",
         {q.shape(), k.shape()});
  }
  options.key_lengths.clear();
  options.query_offsets.clear();
  for (std::size_t b = 0; b < k.shape(0); ++b) {
    const std::size_t past = cache.lengths()[b];
    options.key_lengths.push_back(past + chunk.real(b, tokens));
    options.query_offsets.push_back(static_cast<std::ptrdiff_t>(past) -
                                    static_cast<std::ptrdiff_t>(chunk.first(b, tokens)));
  }
  AttentionResult result;
  if (branch != Branch::fast || trace != nullptr) {
    result = attention(q, cache.keys_with(k, chunk), cache.values_with(v, chunk), options, trace);
  }
  const KVCache::Mark before = cache.mark();
  cache.append(k, v, chunk);
  if (branch != Branch::plain && trace == nullptr) {
    try {
      result.output = flash_attention(q, cache.packed(), k.shape(1), v.shape(3),
                                      cache.longest_with(0, {}), options);
    } catch (...) {
      cache.rewind(before);
      throw;
    }
  }
  return result;
}

}  // namespace softlookup
