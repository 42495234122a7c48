// The key/value cache, and attention over it: a sequence cut into chunks is the whole sequence.

#include "cached_attention.hpp"

#include <algorithm>
#include <xtensor/xview.hpp>

#include "catch.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

/// Zero queries and keys: each output is the mean of the visible values.
std::vector<float> means(KVCache& cache, const std::vector<float>& v,
                         const std::vector<std::size_t>& chunks) {
  std::vector<float> outputs;
  std::size_t first = 0;
  for (const std::size_t count : chunks) {
    const auto from = v.begin() + static_cast<std::ptrdiff_t>(first);
    const Tensor4 chunk = tokens({from, from + static_cast<std::ptrdiff_t>(count)});
    const Tensor4 zero = zero_tokens(count);
    KVCache other = cache;
    const auto attend = [&](KVCache& held, Branch branch) {
      return cached_attention(zero, zero, chunk, with({}, Causal::square), held, {}, branch).output;
    };
    const Tensor4 output = attend(cache, Branch::plain);
    CHECK(mismatch(numbers(attend(other, Branch::fast)), numbers(output), kContract) == "");
    outputs.insert(outputs.end(), output.begin(), output.end());
    first += count;
  }
  return outputs;
}

Numbers list_of(const std::vector<float>& values) {
  return {{values.size()}, std::vector<double>(values.begin(), values.end())};
}

KVCache single(std::size_t capacity) { return KVCache({1, 1, 1, capacity}); }

Tensor4 cut(const Tensor4& x, std::size_t from, std::size_t to) {
  return xt::view(x, xt::all(), xt::all(), xt::range(from, to));
}

/// A chunk of T tokens whose rows hold the next counts[b] real tokens of x, and rubbish beside
/// them.
Tensor4 padded(const std::vector<Tensor4>& x, const std::vector<std::size_t>& from,
               const Chunk& chunk, std::size_t tokens_in_chunk, float rubbish) {
  Tensor4 padded_chunk = xt::ones<float>(std::array<std::size_t, 4>{
                             x.size(), x[0].shape(1), tokens_in_chunk, x[0].shape(3)}) *
                         rubbish;
  for (std::size_t b = 0; b < x.size(); ++b) {
    for (std::size_t n = 0; n < chunk.lengths[b]; ++n) {
      const std::size_t to =
          n + (chunk.side == PaddingSide::left ? tokens_in_chunk - chunk.lengths[b] : 0);
      xt::view(padded_chunk, b, xt::all(), to) = xt::view(x[b], 0, xt::all(), from[b] + n);
    }
  }
  return padded_chunk;
}

}  // namespace

TEST_CASE("cache: a chunk is masked as if there were no past, or not at all") {
  const std::vector<std::vector<std::size_t>> cuts = {{2, 2}, {1, 3}, {3, 1}, {1, 1, 1, 1}, {4}};
  for (const auto& chunks : cuts) {
    KVCache cache = single(8);
    CHECK(mismatch(list_of(means(cache, {1, 2, 3, 4}, chunks)), list({1, 1.5, 2, 2.5}),
                   kSixDecimals) == "");
  }
}

TEST_CASE("cache: attention divides by the capacity, or reads slots of the sequence before") {
  for (const float rubbish : {kNaN, kInf, -kInf, kMaxFloat, 9.0F}) {
    KVCache cache = single(8);
    const Tensor4 spoilt = tokens(std::vector<float>(8, rubbish));
    cache.append(spoilt, spoilt, {});
    cache.reset();
    CHECK(cache.lengths() == std::vector<std::size_t>{0});
    CHECK(mismatch(list_of(means(cache, {1, 2, 3}, {2, 1})), list({1, 1.5, 2}), kSixDecimals) ==
          "");
  }
}

TEST_CASE("cache: without causality a short row is filled up to the longest") {
  for (const PaddingSide side : {PaddingSide::right, PaddingSide::left}) {
    KVCache cache({2, 1, 1, 4});
    const bool right = side == PaddingSide::right;
    const Tensor4 zero = tensor4({2, 1, 2, 1}, {0, 0, 0, 0});
    const Tensor4 v =
        right ? tensor4({2, 1, 2, 1}, {1, 3, 5, 99}) : tensor4({2, 1, 2, 1}, {1, 3, 99, 5});
    const auto result = cached_attention(zero, zero, v, {}, cache, {{2, 1}, side});
    CHECK(mismatch(list({static_cast<double>(result.output(0, 0, 0, 0)),
                         static_cast<double>(result.output(0, 0, 1, 0)),
                         static_cast<double>(result.output(1, 0, right ? 0 : 1, 0))}),
                   list({2, 2, 5}), kSixDecimals) == "");
    const Tensor4 one = tensor4({2, 1, 1, 1}, {0, 0});
    const auto next = cached_attention(one, one, tensor4({2, 1, 1, 1}, {8, 7}), {}, cache, {});
    CHECK(mismatch(reshaped(numbers(next.output), {2}), list({4, 6}), kSixDecimals) == "");
  }
}

TEST_CASE("cache: too many tokens are written before they are refused") {
  KVCache cache = single(4);
  means(cache, {1, 2, 3}, {3});
  CHECK(refusal(ErrorCode::CACHE_FULL, {"holds 3 of 4", "2 more"}, [&] {
          means(cache, {9, 9}, {2});
        }) == "");
  CHECK(refusal(ErrorCode::CACHE_FULL, {"holds 3 of 4"}, [&] {
          cache.append(tokens({9, 9}), tokens({9, 9}), {});
        }) == "");
  CHECK(cache.lengths() == std::vector<std::size_t>{3});
  CHECK(mismatch(list_of(means(cache, {4}, {1})), list({2.5}), kSixDecimals) == "");

  KVCache none = single(0);
  CHECK(means(none, {}, {0}).empty());
  CHECK(refusal(ErrorCode::CACHE_FULL, {"0 of 0"}, [&] { means(none, {1}, {1}); }) == "");
}

TEST_CASE("cache: what attention refuses does not change the cache") {
  for (const Branch branch : {Branch::plain, Branch::fast, Branch::with_weights}) {
    KVCache cache = single(4);
    means(cache, {1}, {1});
    const Tensor4 one = zero_tokens(1);
    const auto attend = [&](const Tensor4& q, const Tensor4& k, const AttentionOptions& options,
                            const Chunk& chunk) {
      cached_attention(q, k, one, options, cache, chunk, branch);
    };
    CHECK(refusal(ErrorCode::MASK_SHAPE, {"[5]"}, [&] {
            attend(one, one, with({keep({5}, {1, 1, 1, 1, 1})}), {});
          }) == "");
    AttentionOptions capped;
    capped.softcap = -1.0F;
    CHECK(refusal(ErrorCode::OPTION, {"softcap"}, [&] { attend(one, one, capped, {}); }) == "");
    CHECK(refusal(ErrorCode::OPTION, {"lengths: 2", "1 tokens"},
                  [&] { attend(one, one, {}, {{2}}); }) == "");
    CHECK(refusal(ErrorCode::SHAPE, {"lengths [2]", "B = 1"}, [&] {
            attend(one, one, {}, {{1, 1}});
          }) == "");
    CHECK(refusal(ErrorCode::SHAPE, {"k [1, 1, 2, 1]", "v [1, 1, 1, 1]"},
                  [&] { attend(one, zero_tokens(2), {}, {}); }) == "");
    CHECK(refusal(ErrorCode::SHAPE, {"q [1, 1, 2, 1]", "k [1, 1, 1, 1]"},
                  [&] { attend(zero_tokens(2), one, {}, {}); }) == "");
    CHECK(cache.lengths() == std::vector<std::size_t>{1});
    CHECK(cache.next_position(0) == 1);
    CHECK(mismatch(list_of(means(cache, {3}, {1})), list({2}), kSixDecimals) == "");
  }
}

TEST_CASE("cache: a size that cannot be") {
  for (const KVCache::Size& size :
       {KVCache::Size{0, 1, 1, 1}, KVCache::Size{1, 0, 1, 1}, KVCache::Size{1, 1, 0, 1}}) {
    CHECK(refusal(ErrorCode::OPTION, {"batch", "numKvHeads", "headDim"},
                  [&] { KVCache cache(size); }) == "");
  }
  KVCache cache = single(2);
  CHECK(refusal(ErrorCode::OPTION, {"capacity = 1", "2"}, [&] { cache.grow(1); }) == "");
}

TEST_CASE("cache: growing or dropping loses tokens, or positions") {
  KVCache cache = single(2);
  means(cache, {1, 2}, {2});
  cache.grow(3);
  CHECK(cache.size().capacity == 3);
  CHECK(mismatch(list_of(means(cache, {6}, {1})), list({3}), kSixDecimals) == "");
  cache.drop_oldest(2);
  CHECK(cache.lengths() == std::vector<std::size_t>{1});
  CHECK(cache.next_position(0) == 3);
  CHECK(mismatch(list_of(means(cache, {8}, {1})), list({7}), kSixDecimals) == "");
  cache.drop_oldest(9);
  CHECK(cache.lengths() == std::vector<std::size_t>{0});
  cache.reset();
  CHECK(cache.next_position(0) == 0);
}

TEST_CASE("cache: query heads read the wrong key/value head") {
  KVCache cache({1, 2, 1, 2});
  const Tensor4 q = tensor4({1, 4, 1, 1}, {0, 0, 0, 0}), v = tensor4({1, 2, 1, 1}, {10, 20});
  for (int step = 0; step < 2; ++step) {
    const auto result = cached_attention(q, v, v, with({}, Causal::square), cache, {});
    CHECK(mismatch(reshaped(numbers(result.output), {4}), list({10, 10, 20, 20}), kSixDecimals) ==
          "");
  }
}

TEST_CASE("cache: chunks, ragged and padded with rubbish, give other bits than the whole rows") {
  RandomInput random(91);
  for (int turn = 0; turn < 150; ++turn) {
    const std::size_t batch = random.between(1, 3), kv_heads = random.between(1, 2);
    const std::size_t heads = kv_heads * random.between(1, 3), head_dim = random.between(1, 7);
    std::vector<Chunk> chunks(random.between(1, 4));
    std::vector<std::size_t> lengths(batch, 0);
    for (Chunk& chunk : chunks) {
      chunk.side = random.chance(0.5) ? PaddingSide::left : PaddingSide::right;
      for (std::size_t b = 0; b < batch; ++b) {
        chunk.lengths.push_back(random.between(0, 4));
        lengths[b] += chunk.lengths[b];
      }
    }
    AttentionOptions options = with({}, Causal::square);
    if (random.chance(0.5)) {
      options.window_left = random.between(0, 4);
    }
    if (random.chance(0.3)) {
      options.softcap = 3.0F;
    }
    for (std::size_t h = 0; turn % 2 == 0 && h < heads; ++h) {
      options.alibi_slopes.push_back(static_cast<float>(random.uniform()));
      options.sinks.push_back(static_cast<float>(random.normal()));
    }
    std::vector<Tensor4> q, k, v;
    for (const std::size_t length : lengths) {
      q.push_back(random.tensor4({1, heads, length, head_dim}));
      k.push_back(random.tensor4({1, kv_heads, length, head_dim}));
      v.push_back(random.tensor4({1, kv_heads, length, head_dim}));
    }
    CAPTURE(turn, batch, heads, kv_heads, head_dim);

    KVCache cache({batch, kv_heads, head_dim, 16});
    std::vector<std::size_t> from(batch, 0);
    std::vector<Tensor4> whole;
    for (std::size_t b = 0; b < batch; ++b) {
      whole.push_back(attention(q[b], k[b], v[b], options).output);
    }
    for (const Chunk& chunk : chunks) {
      const std::size_t count =
          *std::max_element(chunk.lengths.begin(), chunk.lengths.end()) + random.between(0, 2);
      const float rubbish = random.chance(0.5) ? kNaN : 1e30F;
      const auto result = cached_attention(
          padded(q, from, chunk, count, rubbish), padded(k, from, chunk, count, rubbish),
          padded(v, from, chunk, count, rubbish), options, cache, chunk);
      for (std::size_t b = 0; b < batch; ++b) {
        const std::size_t first = chunk.first(b, count), real = chunk.lengths[b];
        const Tensor4 row = xt::view(result.output, xt::range(b, b + 1));
        CHECK(other_bits(cut(row, first, first + real), cut(whole[b], from[b], from[b] + real)) ==
              "");
        from[b] += real;
      }
    }
    CHECK(cache.lengths() == lengths);
  }
}

TEST_CASE("cache: a later token of the chunk moves a bit of an earlier row") {
  RandomInput random(92);
  const Tensor4 past = random.tensor4({2, 2, 3, 4}), q = random.tensor4({2, 4, 4, 4});
  const Tensor4 k = random.tensor4({2, 2, 4, 4}), v = random.tensor4({2, 2, 4, 4});
  const auto attend = [&](const Tensor4& queries, const Tensor4& keys, const Tensor4& values) {
    KVCache cache({2, 2, 4, 8});
    cache.append(past, past, {});
    return cached_attention(queries, keys, values, with({}, Causal::square), cache, {}).output;
  };
  const Tensor4 before = attend(q, k, v);
  for (std::size_t t = 0; t < 3; ++t) {
    for (const float value : {kNaN, kInf, 1e30F, -7.0F}) {
      const auto replaced = [&](Tensor4 x) {
        xt::view(x, xt::all(), xt::all(), xt::range(t + 1, std::size_t{4})) = value;
        return x;
      };
      const Tensor4 after = attend(replaced(q), replaced(k), replaced(v));
      CHECK(other_bits(cut(after, 0, t + 1), cut(before, 0, t + 1)) == "");
    }
  }
}
