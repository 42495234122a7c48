// Grouped-query attention beside multi-head attention, its parts, and itself in chunks.

#include "grouped_query.hpp"

#include <algorithm>
#include <cmath>
#include <xtensor/xview.hpp>

#include "catch.hpp"
#include "heads.hpp"
#include "multi_head.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

using Bias = GroupedQueryConfig::Bias;

RopeOptions half() {
  RopeOptions options{};
  options.layout = RopeLayout::half;
  return options;
}

NdArray identity(std::size_t size) { return xt::eye<float>(size); }

/// One head of width 2, q, k and v the tokens themselves, turned by their positions.
GroupedQueryAttention turning() {
  GroupedQueryAttention module({2, 1, 1, 2, {}, half(), Bias::none});
  module.load({{"q_proj.weight", identity(2)},
               {"k_proj.weight", identity(2)},
               {"v_proj.weight", identity(2)},
               {"o_proj.weight", identity(2)}});
  return module;
}

GroupedQueryConfig random_config(RandomInput& random) {
  GroupedQueryConfig config{};
  config.hidden_size = random.between(1, 6);
  config.num_kv_heads = random.between(1, 2);
  config.num_heads = config.num_kv_heads * random.between(1, 3);
  config.head_dim = 2 * random.between(1, 3);
  if (random.chance(0.5)) {
    config.qk_norm_eps = 1e-6;
  }
  if (random.chance(0.7)) {
    config.rope = half();
    config.rope->layout = random.chance(0.5) ? RopeLayout::half : RopeLayout::interleaved;
    config.rope->dims = random.chance(0.5) ? 2 : 0;
  }
  config.bias = random.chance(0.3) ? Bias::all : random.chance(0.5) ? Bias::qkv : Bias::none;
  return config;
}

StateDict random_state(RandomInput& random, const GroupedQueryConfig& config) {
  const std::size_t hidden = config.hidden_size;
  const std::size_t q = config.num_heads * config.head_dim,
                    kv = config.num_kv_heads * config.head_dim;
  StateDict state = {{"q_proj.weight", random.nd_array({q, hidden})},
                     {"k_proj.weight", random.nd_array({kv, hidden})},
                     {"v_proj.weight", random.nd_array({kv, hidden})},
                     {"o_proj.weight", random.nd_array({hidden, q})}};
  if (config.bias != Bias::none) {
    state["q_proj.bias"] = random.nd_array({q});
    state["k_proj.bias"] = random.nd_array({kv});
    state["v_proj.bias"] = random.nd_array({kv});
  }
  if (config.bias == Bias::all) {
    state["o_proj.bias"] = random.nd_array({hidden});
  }
  if (config.qk_norm_eps) {
    state["q_norm.weight"] = random.nd_array({config.head_dim});
    state["k_norm.weight"] = random.nd_array({config.head_dim});
  }
  return state;
}

Tensor3 cut(const Tensor3& x, std::size_t from, std::size_t to) {
  return xt::view(x, xt::all(), xt::range(from, to));
}

}  // namespace

TEST_CASE("grouped query: a decoded token is turned at another position, or cached keys twice") {
  const GroupedQueryAttention module = turning();
  const std::vector<std::vector<std::size_t>> cuts = {{3}, {2, 1}, {1, 1, 1}};
  for (const auto& chunks : cuts) {
    KVCache cache({1, 1, 2, 3});
    GroupedQueryOptions options;
    options.cache = &cache;
    Tensor4 weights;
    for (const std::size_t count : chunks) {
      std::vector<float> x;
      for (std::size_t n = 0; n < count; ++n) {
        x.insert(x.end(), {1, 0});
      }
      weights = module.forward(tensor3({1, count, 2}, x), options).weights;
    }
    const Tensor4 last =
        xt::view(weights, xt::all(), xt::all(), xt::range(weights.shape(2) - 1, weights.shape(2)));
    CHECK(mismatch(reshaped(numbers(last), {3}), list({0.175790, 0.345710, 0.478500}),
                   kSixDecimals) == "");
  }
}

TEST_CASE("grouped query: a failed forward moves the cache or its position") {
  const GroupedQueryAttention module = turning();
  KVCache cache({1, 1, 2, 3});
  GroupedQueryOptions options;
  options.cache = &cache;
  const Tensor3 one = tensor3({1, 1, 2}, {1, 0}), two = tensor3({1, 2, 2}, {1, 0, 1, 0});
  static_cast<void>(module.forward(two, options));
  CHECK(refusal(ErrorCode::CACHE_FULL, {"holds 2 of 3"},
                [&] { static_cast<void>(module.forward(two, options)); }) == "");
  options.key_mask = keep({1, 1}, {1});
  CHECK(refusal(ErrorCode::MASK_SHAPE, {"keyMask [1, 1]", "[1, 3]"},
                [&] { static_cast<void>(module.forward(one, options)); }) == "");
  options.key_mask.reset();
  CHECK(mismatch(reshaped(numbers(module.forward(one, options).weights), {3}),
                 list({0.175790, 0.345710, 0.478500}), kSixDecimals) == "");
}

TEST_CASE("grouped query: a layer that no token can go through") {
  const auto refused = [](ErrorCode code, const std::vector<std::string>& fragments,
                          const GroupedQueryConfig& config) {
    return refusal(code, fragments, [&] { GroupedQueryAttention module(config); });
  };
  const GroupedQueryConfig good{4, 2, 1, 2, {}, half(), Bias::none};
  auto config = good;
  config.num_kv_heads = 4;
  CHECK(refused(ErrorCode::HEADS, {"numKvHeads = 4", "numHeads = 2"}, config) == "");
  config.num_heads = 0;
  config.num_kv_heads = 0;
  config.head_dim = 0;
  CHECK(refused(ErrorCode::HEADS, {"numHeads = 0"}, config) == "");
  config = good;
  config.hidden_size = 0;
  CHECK(refused(ErrorCode::OPTION, {"hiddenSize"}, config) == "");
  config = good;
  config.head_dim = 0;
  CHECK(refused(ErrorCode::OPTION, {"headDim"}, config) == "");
  config = good;
  config.head_dim = 3;
  CHECK(refused(ErrorCode::SHAPE, {"3"}, config) == "");
  config = good;
  config.rope->dims = 4;
  CHECK(refused(ErrorCode::OPTION, {"dims = 4"}, config) == "");
  config = good;
  config.rope->theta = 0;
  CHECK(refused(ErrorCode::OPTION, {"theta"}, config) == "");
  config = good;
  config.qk_norm_eps = -1;
  CHECK(refused(ErrorCode::OPTION, {"eps"}, config) == "");
}

TEST_CASE("grouped query: not its parts, one after the other") {
  RandomInput random(95);
  for (int turn = 0; turn < 60; ++turn) {
    GroupedQueryConfig config = random_config(random);
    config.qk_norm_eps.reset();
    config.rope.reset();
    const StateDict state = random_state(random, config);
    GroupedQueryAttention module(config);
    module.load(state);
    const std::size_t length = random.between(0, 6);
    const Tensor3 x = random.tensor3({2, length, config.hidden_size});
    const auto projected = [&](const char* name, std::size_t count) {
      const auto bias = state.find(std::string(name) + ".bias");
      const Numbers y = oracle::linear(numbers(x), numbers(state.at(std::string(name) + ".weight")),
                                       bias == state.end() ? Numbers{} : numbers(bias->second));
      Numbers heads{{2, count, length, config.head_dim}, std::vector<double>(y.data.size())};
      for (std::size_t n = 0; n < y.data.size(); ++n) {
        const std::size_t e = n % config.head_dim, h = n / config.head_dim % count;
        const std::size_t token = n / config.head_dim / count;
        const std::size_t b = length == 0 ? 0 : token / length,
                          i = length == 0 ? 0 : token % length;
        heads.data[((b * count + h) * length + i) * config.head_dim + e] = y.data[n];
      }
      return heads;
    };
    const Numbers heads = oracle::attention(projected("q_proj", config.num_heads),
                                            projected("k_proj", config.num_kv_heads),
                                            projected("v_proj", config.num_kv_heads),
                                            oracle_bias({}, Causal::top_left, length, length))
                              .output;
    Numbers merged{{2, length, config.num_heads * config.head_dim},
                   std::vector<double>(heads.data.size())};
    for (std::size_t n = 0; n < heads.data.size(); ++n) {
      const std::size_t e = n % config.head_dim, i = n / config.head_dim % length;
      const std::size_t h = n / config.head_dim / length % config.num_heads;
      const std::size_t b = n / config.head_dim / length / config.num_heads;
      merged.data[((b * length + i) * config.num_heads + h) * config.head_dim + e] = heads.data[n];
    }
    const auto bias = state.find("o_proj.bias");
    const Numbers want = oracle::linear(merged, numbers(state.at("o_proj.weight")),
                                        bias == state.end() ? Numbers{} : numbers(bias->second));
    CAPTURE(turn);
    CHECK(mismatch(numbers(module.forward(x, {}).output), want, {2e-5, 1e-5}) == "");
  }
}

TEST_CASE("grouped query: not multi-head attention with repeated heads, to the bit") {
  RandomInput random(96);
  for (const std::size_t kv_heads : Shape{1, 2, 4}) {
    const std::size_t width = 12, head_dim = 3, heads = 4;
    GroupedQueryAttention grouped({width, heads, kv_heads, head_dim, {}, {}, Bias::none});
    MultiHeadAttention plain({width, heads, width, width, false, false, false});
    const auto repeated = [&](const NdArray& weight) {
      NdArray by_head = weight;
      by_head.reshape(Shape{1, kv_heads, head_dim, width});
      NdArray all = repeat_kv(by_head, heads / kv_heads);
      all.reshape(Shape{width, width});
      return all;
    };
    const NdArray q = random.nd_array({width, width}), o = random.nd_array({width, width});
    const NdArray k = random.nd_array({kv_heads * head_dim, width});
    const NdArray v = random.nd_array({kv_heads * head_dim, width});
    grouped.load(
        {{"q_proj.weight", q}, {"k_proj.weight", k}, {"v_proj.weight", v}, {"o_proj.weight", o}});
    plain.load({{"q_proj_weight", q},
                {"k_proj_weight", repeated(k)},
                {"v_proj_weight", repeated(v)},
                {"out_proj.weight", o}});
    const Tensor3 x = random.tensor3({2, 5, width});
    MultiHeadOptions causal;
    causal.causal = Causal::square;
    const auto one = grouped.forward(x, {});
    const auto other = plain.forward(x, x, x, causal);
    CHECK(other_bits(one.output, other.output) == "");
    CHECK(other_bits(one.weights, other.weights) == "");
  }
}

TEST_CASE("grouped query: chunks, ragged and padded, give other bits than each row alone") {
  RandomInput random(97);
  for (int turn = 0; turn < 60; ++turn) {
    const GroupedQueryConfig config = random_config(random);
    GroupedQueryAttention module(config);
    module.load(random_state(random, config));
    const std::size_t batch = random.between(1, 3), width = config.hidden_size;
    std::vector<Chunk> chunks(random.between(1, 4));
    std::vector<std::size_t> lengths(batch, 0), from(batch, 0);
    for (Chunk& chunk : chunks) {
      chunk.side = random.chance(0.5) ? PaddingSide::left : PaddingSide::right;
      for (std::size_t b = 0; b < batch; ++b) {
        chunk.lengths.push_back(random.between(0, 4));
        lengths[b] += chunk.lengths[b];
      }
    }
    std::vector<Tensor3> rows, alone;
    for (const std::size_t length : lengths) {
      rows.push_back(random.tensor3({1, length, width}));
      alone.push_back(module.forward(rows.back(), {}).output);
    }
    CAPTURE(turn, batch, width);

    KVCache cache({batch, config.num_kv_heads, config.head_dim, 16});
    for (const Chunk& chunk : chunks) {
      const std::size_t count =
          *std::max_element(chunk.lengths.begin(), chunk.lengths.end()) + random.between(0, 2);
      Tensor3 x = xt::ones<float>(std::array<std::size_t, 3>{batch, count, width}) * kNaN;
      for (std::size_t b = 0; b < batch; ++b) {
        const std::size_t first = chunk.first(b, count), real = chunk.lengths[b];
        xt::view(x, b, xt::range(first, first + real)) =
            xt::view(rows[b], 0, xt::range(from[b], from[b] + real));
      }
      GroupedQueryOptions options;
      options.cache = &cache;
      options.chunk = chunk;
      Trace trace;
      const Tensor3 output = module.forward(x, options, turn % 2 == 0 ? &trace : nullptr).output;
      for (std::size_t b = 0; b < batch; ++b) {
        const std::size_t first = chunk.first(b, count), real = chunk.lengths[b];
        const Tensor3 row = xt::view(output, xt::range(b, b + 1));
        CHECK(other_bits(cut(row, first, first + real), cut(alone[b], from[b], from[b] + real)) ==
              "");
        from[b] += real;
      }
    }
    CHECK(cache.lengths() == lengths);
  }
}

TEST_CASE("grouped query: a later token moves a bit of an earlier row") {
  RandomInput random(98);
  for (int turn = 0; turn < 20; ++turn) {
    const GroupedQueryConfig config = random_config(random);
    GroupedQueryAttention module(config);
    module.load(random_state(random, config));
    const Tensor3 x = random.tensor3({2, 5, config.hidden_size});
    const Tensor3 before = module.forward(x, {}).output;
    for (const float value : {kNaN, kInf, 1e25F, -3.0F}) {
      Tensor3 y = x;
      xt::view(y, xt::all(), xt::range(3, 5)) = value;
      CHECK(other_bits(cut(module.forward(y, {}).output, 0, 3), cut(before, 0, 3)) == "");
    }
  }
}
