// The numeric contract, on inputs that a generator chose.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <xtensor/xindex_view.hpp>
#include <xtensor/xview.hpp>

#include "attention.hpp"
#include "catch.hpp"
#include "mask_array.hpp"
#include "multi_head.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

struct Inputs {
  Tensor4 q, k, v;
};

/// A shape that broadcasts to [B, H, L, S]: any number of axes, any of them 1.
Shape random_mask_shape(RandomInput& random, const Shape& scores) {
  const std::size_t rank = random.between(0, 4);
  Shape shape(scores.end() - static_cast<std::ptrdiff_t>(rank), scores.end());
  for (std::size_t& size : shape) {
    size = random.chance(0.3) ? 1 : size;
  }
  return shape;
}

std::vector<Mask> random_masks(RandomInput& random, const Shape& scores) {
  std::vector<Mask> masks;
  const std::size_t count = random.between(0, 2);
  for (std::size_t n = 0; n < count; ++n) {
    const Shape shape = random_mask_shape(random, scores);
    if (random.chance(0.5)) {
      masks.emplace_back(random.keep(shape, 0.7));
    } else {
      masks.emplace_back(random.bias(shape, 0.7));
    }
  }
  return masks;
}

/// x with everything after position t along the token axis replaced.
Tensor4 replaced_after(const Tensor4& x, std::size_t t, const std::function<float()>& next) {
  Tensor4 replaced = x;
  for (std::size_t b = 0; b < x.shape(0); ++b) {
    for (std::size_t h = 0; h < x.shape(1); ++h) {
      for (std::size_t i = t + 1; i < x.shape(2); ++i) {
        for (std::size_t e = 0; e < x.shape(3); ++e) {
          replaced(b, h, i, e) = next();
        }
      }
    }
  }
  return replaced;
}

Tensor4 rows(const Tensor4& x, std::size_t count) {
  return xt::view(x, xt::all(), xt::all(), xt::range(std::size_t{0}, count));
}

std::vector<std::size_t> reversed(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  return order;
}

/// x with one axis in another order.
Tensor4 reordered(const Tensor4& x, std::size_t axis, const std::vector<std::size_t>& order) {
  Tensor4 result = x;
  for (std::size_t a = 0; a < x.shape(0); ++a) {
    for (std::size_t b = 0; b < x.shape(1); ++b) {
      for (std::size_t c = 0; c < x.shape(2); ++c) {
        for (std::size_t d = 0; d < x.shape(3); ++d) {
          std::array<std::size_t, 4> from = {a, b, c, d};
          from[axis] = order[from[axis]];
          result(a, b, c, d) = x(from[0], from[1], from[2], from[3]);
        }
      }
    }
  }
  return result;
}

}  // namespace

TEST_CASE("contract: the error against double precision stays below 2e-6", "[slow]") {
  RandomInput random(31);
  std::size_t dead_rows = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const std::size_t batch = random.between(1, 3), kv_heads = random.between(1, 3);
    const std::size_t heads = kv_heads * random.between(1, 3);
    const std::size_t queries = random.between(1, 12), head_dim = random.between(1, 24);
    const std::size_t keys = random.chance(0.2) ? queries : random.between(1, 40);
    const std::size_t value_dim = random.between(1, 12);
    const Tensor4 q = random.tensor4({batch, heads, queries, head_dim});
    const Tensor4 k = random.tensor4({batch, kv_heads, keys, head_dim});
    const Tensor4 v = random.tensor4({batch, kv_heads, keys, value_dim});

    AttentionOptions options = with(random_masks(random, {batch, heads, queries, keys}));
    const Causal causals[] = {Causal::none, Causal::top_left, Causal::bottom_right, Causal::square};
    options.causal = causals[random.between(0, queries == keys ? 3 : 2)];
    double scale = 1 / std::sqrt(static_cast<double>(head_dim));
    if (random.chance(0.2)) {
      options.scale = static_cast<float>(random.uniform());
      scale = static_cast<double>(*options.scale);
    }
    CAPTURE(turn, batch, heads, kv_heads, queries, keys, head_dim, value_dim);

    const auto got = attention(q, k, v, options);
    const auto want =
        oracle::attention(numbers(q), numbers(k), numbers(v),
                          oracle_bias(options.masks, options.causal, queries, keys), scale);
    CHECK(mismatch(numbers(got.output), want.output, kContract) == "");
    CHECK(mismatch(numbers(got.weights), want.weights, kContract) == "");
    dead_rows += static_cast<std::size_t>(
        std::count(want.row_sum.data.begin(), want.row_sum.data.end(), 0.0));
  }
  CHECK(dead_rows > 50);  // they were among the inputs
}

TEST_CASE("contract: a window, ALiBi, key lengths, softcap or sinks beside masks go wrong") {
  RandomInput random(44);
  std::size_t hidden = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const std::size_t batch = random.between(1, 3), kv_heads = random.between(1, 2);
    const std::size_t heads = kv_heads * random.between(1, 3);
    const std::size_t queries = random.between(1, 10), keys = random.between(1, 20);
    const Tensor4 q = random.tensor4({batch, heads, queries, 6});
    const Tensor4 k = random.tensor4({batch, kv_heads, keys, 6});
    const Tensor4 v = random.tensor4({batch, kv_heads, keys, 5});

    AttentionOptions options = with(random_masks(random, {batch, heads, queries, keys}));
    const Causal causals[] = {Causal::none, Causal::top_left, Causal::bottom_right};
    options.causal = causals[random.between(0, 2)];
    options.alignment = random.chance(0.5) ? Alignment::top_left : Alignment::bottom_right;
    const bool from_the_end = options.causal == Causal::none
                                  ? *options.alignment == Alignment::bottom_right
                                  : options.causal == Causal::bottom_right;
    if (random.chance(0.5)) {
      options.window_left = random.between(0, 5);
    }
    if (random.chance(0.3)) {
      options.window_right = random.between(0, 5);
    }
    oracle::Form form;
    if (random.chance(0.3)) {
      options.softcap = 2.5F;
      form.softcap = 2.5;
    }
    for (std::size_t h = 0; turn % 2 == 0 && h < heads; ++h) {
      options.alibi_slopes.push_back(static_cast<float>(0.1 * random.uniform()));
    }
    for (std::size_t h = 0; turn % 3 == 0 && h < heads; ++h) {
      options.sinks.push_back(static_cast<float>(random.normal()));
      form.sinks.push_back(static_cast<double>(options.sinks.back()));
    }
    for (std::size_t b = 0; turn % 5 < 2 && b < batch; ++b) {
      options.key_lengths.push_back(random.between(0, keys));
    }
    CAPTURE(turn, batch, heads, kv_heads, queries, keys);

    const auto masked = oracle_bias(options.masks, Causal::none, queries, keys);
    const auto bias = [&](std::size_t b, std::size_t h, std::size_t i, std::size_t j) -> double {
      const std::size_t real = options.key_lengths.empty() ? keys : options.key_lengths[b];
      const double position =
          static_cast<double>(i) +
          (from_the_end ? static_cast<double>(real) - static_cast<double>(queries) : 0);
      const double ahead = static_cast<double>(j) - position;
      const bool out =
          j >= real || (options.causal != Causal::none && ahead > 0) ||
          (options.window_left && -ahead > static_cast<double>(*options.window_left)) ||
          (options.window_right && ahead > static_cast<double>(*options.window_right));
      hidden += out ? 1U : 0U;
      const double slope =
          options.alibi_slopes.empty() ? 0 : static_cast<double>(options.alibi_slopes[h]);
      return out ? -std::numeric_limits<double>::infinity()
                 : masked(b, h, i, j) - slope * std::abs(ahead);
    };
    const auto got = attention(q, k, v, options);
    const auto want =
        oracle::attention(numbers(q), numbers(k), numbers(v), bias, 1 / std::sqrt(6.0), form);
    CHECK(mismatch(numbers(got.output), want.output, kContract) == "");
    CHECK(mismatch(numbers(got.weights), want.weights, kContract) == "");
    Trace trace;
    CHECK(other_bits(attention(q, k, v, options, &trace).output, got.output) == "");
  }
  CHECK(hidden > 1000);
}

TEST_CASE("contract: the error of long rows and wide heads") {
  RandomInput random(32);
  for (const auto& [queries, keys, head_dim] : std::vector<std::array<std::size_t, 3>>{
           {3, 600, 8}, {40, 40, 64}, {2, 33, 256}, {130, 17, 5}}) {
    CAPTURE(queries, keys, head_dim);
    const Tensor4 q = random.tensor4({1, 2, queries, head_dim});
    const Tensor4 k = random.tensor4({1, 2, keys, head_dim});
    const Tensor4 v = random.tensor4({1, 2, keys, 7});
    CHECK(mismatch(numbers(attention(q, k, v, {}).output),
                   oracle::attention(numbers(q), numbers(k), numbers(v)).output, kContract) == "");
  }
}

TEST_CASE("contract: scores up to 1e30 in either direction") {
  RandomInput random(33);
  for (int turn = 0; turn < 40; ++turn) {
    const float size = std::pow(10.0F, static_cast<float>(random.between(0, 15)));
    const Tensor4 q = random.tensor4({1, 1, 4, 3}) * size, k = random.tensor4({1, 1, 6, 3}) * size;
    const Tensor4 v = random.tensor4({1, 1, 6, 2});
    const auto got = attention(q, k, v, with({}, Causal::bottom_right));
    for (const float value : got.output) {
      CHECK(std::isfinite(value));
    }
    for (std::size_t i = 0; i < 4; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < 6; ++j) {
        CHECK(got.weights(0, 0, i, j) >= 0);
        sum += static_cast<double>(got.weights(0, 0, i, j));
      }
      CHECK(mismatch(list({sum}), list({1}), kSixDecimals) == "");
    }
    if (size >= 1e6F) {  // differences far above 100: one key takes everything
      const auto want = oracle::attention(numbers(q), numbers(k), numbers(v),
                                          oracle_bias({}, Causal::bottom_right, 4, 6));
      CHECK(mismatch(numbers(got.weights), want.weights, kContract) == "");
    }
  }
}

TEST_CASE("contract: other bits in the second run") {
  RandomInput random(34);
  const Tensor4 q = random.tensor4({2, 4, 9, 7}), k = random.tensor4({2, 2, 13, 7});
  const Tensor4 v = random.tensor4({2, 2, 13, 5});
  const auto options = with({random.bias({2, 1, 9, 13}, 0.8)}, Causal::bottom_right);
  const auto first = attention(q, k, v, options);
  for (int turn = 0; turn < 5; ++turn) {
    const Tensor4 between = random.tensor4({1, 1, random.between(1, 30), 7});
    attention(between, between, between, {});
    Trace trace;
    const auto again = attention(q, k, v, options, turn % 2 == 0 ? &trace : nullptr);
    CHECK(other_bits(again.output, first.output) == "");
    CHECK(other_bits(again.weights, first.weights) == "");
  }
}

TEST_CASE("contract: a token after t moves a bit of rows 0 to t") {
  RandomInput random(35);
  constexpr std::size_t kLength = 9;
  const Inputs x{random.tensor4({2, 4, kLength, 5}), random.tensor4({2, 2, kLength, 5}),
                 random.tensor4({2, 2, kLength, 3})};
  const std::vector<std::function<float()>> kinds = {
      [&] { return static_cast<float>(random.normal()); },
      [&] { return static_cast<float>(random.normal()) * 1e6F; },
      [&] { return static_cast<float>(random.normal()) * 1e36F; },
      [] { return kNaN; },
      [] { return kInf; },
      [] { return -kInf; },
      [] { return 0.0F; }};
  for (const Causal causal : {Causal::square, Causal::top_left, Causal::bottom_right}) {
    const auto options = with({random.bias({2, 4, kLength, kLength}, 0.8)}, causal);
    const auto before = attention(x.q, x.k, x.v, options);
    for (std::size_t t = 0; t + 1 < kLength; ++t) {
      for (const auto& next : kinds) {
        const auto after = attention(replaced_after(x.q, t, next), replaced_after(x.k, t, next),
                                     replaced_after(x.v, t, next), options);
        CHECK(other_bits(rows(after.output, t + 1), rows(before.output, t + 1)) == "");
        CHECK(other_bits(rows(after.weights, t + 1), rows(before.weights, t + 1)) == "");
      }
    }
  }
}

TEST_CASE("contract: with a past, a later token moves a bit of earlier rows") {
  RandomInput random(36);
  constexpr std::size_t kPast = 4, kChunk = 3, kKeys = kPast + kChunk;
  const Tensor4 q = random.tensor4({1, 2, kChunk, 5}), k = random.tensor4({1, 2, kKeys, 5});
  const Tensor4 v = random.tensor4({1, 2, kKeys, 3});
  const auto options = with({}, Causal::bottom_right);
  const auto before = attention(q, k, v, options);
  for (std::size_t t = 0; t + 1 < kChunk; ++t) {
    for (const float value : {kNaN, kInf, 1e30F, -7.0F}) {
      const auto next = [value] { return value; };
      const auto after = attention(replaced_after(q, t, next), replaced_after(k, kPast + t, next),
                                   replaced_after(v, kPast + t, next), options);
      CHECK(other_bits(rows(after.output, t + 1), rows(before.output, t + 1)) == "");
    }
  }
}

TEST_CASE("contract: the module lets a later token move an earlier row") {
  RandomInput random(37);
  MultiHeadAttention module({6, 3, 6, 6, true, true, true});
  module.load({{"in_proj_weight", random.nd_array({18, 6})},
               {"in_proj_bias", random.nd_array({18})},
               {"bias_k", random.nd_array({1, 1, 6})},
               {"bias_v", random.nd_array({1, 1, 6})},
               {"out_proj.weight", random.nd_array({6, 6})},
               {"out_proj.bias", random.nd_array({6})}});
  MultiHeadOptions options;
  options.causal = Causal::square;
  const Tensor3 x = random.tensor3({2, 7, 6});
  const auto before = module.forward(x, x, x, options);
  for (std::size_t t = 0; t < 6; ++t) {
    for (const float value : {kNaN, kInf, 1e25F, -3.0F}) {
      Tensor3 y = x;
      xt::view(y, xt::all(), xt::range(t + 1, std::size_t{7})) = value;
      const auto after = module.forward(y, y, y, options);
      const Tensor3 kept = xt::view(after.output, xt::all(), xt::range(std::size_t{0}, t + 1));
      const Tensor3 wanted = xt::view(before.output, xt::all(), xt::range(std::size_t{0}, t + 1));
      CHECK(other_bits(kept, wanted) == "");
    }
  }
}

TEST_CASE("contract: rubbish in hidden keys and values moves a bit") {
  RandomInput random(38);
  const Tensor4 q = random.tensor4({2, 4, 5, 3});
  const Tensor4 k = random.tensor4({2, 2, 8, 3}), v = random.tensor4({2, 2, 8, 4});
  const NdBool keys = random.keep({2, 1, 1, 8}, 0.5);
  NdArray additive = to_additive(keys);
  additive += random.nd_array({1, 1, 5, 1});
  for (const Mask& mask : {Mask(keys), Mask(additive)}) {
    for (const Causal causal : {Causal::none, Causal::bottom_right}) {
      const auto options = with({mask}, causal);
      const auto before = attention(q, k, v, options);
      for (const float value : {kNaN, kInf, -kInf, kMaxFloat, -kMaxFloat, 5.0F}) {
        CAPTURE(value);
        Tensor4 dirty_k = k, dirty_v = v;
        for (std::size_t b = 0; b < 2; ++b) {
          for (std::size_t j = 0; j < 8; ++j) {
            if (keys(b, 0, 0, j) == 0) {
              xt::view(dirty_k, b, xt::all(), j) = value;
              xt::view(dirty_v, b, xt::all(), j) = value;
            }
          }
        }
        const auto after = attention(q, dirty_k, dirty_v, options);
        CHECK(other_bits(after.output, before.output) == "");
        CHECK(other_bits(after.weights, before.weights) == "");
      }
    }
  }
}

TEST_CASE("contract: a batch row or a head depends on its neighbours") {
  RandomInput random(39);
  const Tensor4 q = random.tensor4({3, 4, 5, 3});
  const Tensor4 k = random.tensor4({3, 4, 6, 3}), v = random.tensor4({3, 4, 6, 2});
  const NdArray mask = random.bias({3, 4, 5, 6}, 0.7);
  const auto whole = attention(q, k, v, with({mask}, Causal::bottom_right));
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::size_t h = 0; h < 4; ++h) {
      const auto one = [&](const Tensor4& x) {
        return Tensor4(xt::view(x, xt::range(b, b + 1), xt::range(h, h + 1)));
      };
      const NdArray own_mask = xt::view(mask, xt::range(b, b + 1), xt::range(h, h + 1));
      const auto alone = attention(one(q), one(k), one(v), with({own_mask}, Causal::bottom_right));
      CHECK(other_bits(alone.output, one(whole.output)) == "");
      CHECK(other_bits(alone.weights, one(whole.weights)) == "");
    }
  }
}

TEST_CASE("contract: reordered queries, heads or batch rows change more than their order") {
  RandomInput random(40);
  const Tensor4 q = random.tensor4({3, 4, 5, 3});
  const Tensor4 k = random.tensor4({3, 4, 6, 3}), v = random.tensor4({3, 4, 6, 2});
  const Tensor4 mask = NdArray(random.bias({3, 4, 5, 6}, 0.7));
  const auto before = attention(q, k, v, with({NdArray(mask)}));
  for (const std::size_t axis : Shape{0, 1, 2}) {
    CAPTURE(axis);
    const auto order = reversed(q.shape(axis));
    const bool keys_too = axis < 2;
    const auto after = attention(
        reordered(q, axis, order), keys_too ? reordered(k, axis, order) : k,
        keys_too ? reordered(v, axis, order) : v, with({NdArray(reordered(mask, axis, order))}));
    CHECK(other_bits(after.output, reordered(before.output, axis, order)) == "");
    CHECK(other_bits(after.weights, reordered(before.weights, axis, order)) == "");
  }
}

TEST_CASE("contract: reordered keys change the output") {
  RandomInput random(41);
  const Tensor4 q = random.tensor4({2, 2, 5, 3});
  const Tensor4 k = random.tensor4({2, 2, 6, 3}), v = random.tensor4({2, 2, 6, 2});
  const Tensor4 mask = NdArray(random.bias({2, 2, 5, 6}, 0.7));
  const auto before = attention(q, k, v, with({NdArray(mask)}));
  const std::vector<std::size_t> order = {3, 0, 5, 1, 4, 2};
  const auto after = attention(q, reordered(k, 2, order), reordered(v, 2, order),
                               with({NdArray(reordered(mask, 3, order))}));
  // another order of summation, so not to the bit
  CHECK(mismatch(numbers(after.output), numbers(before.output), {2e-7, 1e-6}) == "");
  CHECK(mismatch(numbers(after.weights), numbers(reordered(before.weights, 3, order)),
                 {2e-7, 1e-6}) == "");
}

TEST_CASE("contract: weights of a row do not sum to 1") {
  RandomInput random(42);
  const Tensor4 q = random.tensor4({1, 2, 7, 4}), k = random.tensor4({1, 2, 33, 4});
  const auto result = attention(q, k, k, with({random.keep({7, 33}, 0.5)}));
  for (std::size_t h = 0; h < 2; ++h) {
    for (std::size_t i = 0; i < 7; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < 33; ++j) {
        sum += static_cast<double>(result.weights(0, h, i, j));
      }
      CHECK(mismatch(list({sum}), list({1}), kSixDecimals) == "");
    }
  }
}

TEST_CASE("contract: padded keys change the output of the others") {
  RandomInput random(43);
  const Tensor4 q = random.tensor4({2, 2, 4, 3});
  const Tensor4 k = random.tensor4({2, 2, 9, 3}), v = random.tensor4({2, 2, 9, 5});
  for (const std::size_t real : Shape{1, 5, 8}) {
    for (const PaddingSide side : {PaddingSide::left, PaddingSide::right}) {
      CAPTURE(real);
      const std::size_t first = side == PaddingSide::left ? 9 - real : 0;
      const auto unpadded = [&](const Tensor4& x) {
        return Tensor4(xt::view(x, xt::all(), xt::all(), xt::range(first, first + real)));
      };
      const Mask mask = padding_mask({real, real}, 9, side);
      // the sums run over another number of keys, so not to the bit
      CHECK(mismatch(numbers(attention(q, k, v, with({mask})).output),
                     numbers(attention(q, unpadded(k), unpadded(v), {}).output),
                     {2e-7, 1e-6}) == "");
    }
  }
}
