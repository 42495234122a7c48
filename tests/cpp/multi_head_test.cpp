#include "multi_head.hpp"

#include <utility>
#include <xtensor/xview.hpp>

#include "catch.hpp"
#include "heads.hpp"
#include "linear.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

MultiHeadConfig plain(std::size_t width, std::size_t heads) {
  return {width, heads, width, width, false, false, false};
}

NdArray identity(std::size_t width, std::size_t times = 1) {
  NdArray matrix = xt::zeros<float>(Shape{times * width, width});
  for (std::size_t row = 0; row < times * width; ++row) {
    matrix(row, row % width) = 1;
  }
  return matrix;
}

/// Every projection passes its input through.
MultiHeadAttention open_module(std::size_t width, std::size_t heads) {
  MultiHeadAttention module(plain(width, heads));
  module.load({{"in_proj_weight", identity(width, 3)}, {"out_proj.weight", identity(width)}});
  return module;
}

MultiHeadOptions masked(std::vector<Mask> masks, Causal causal = Causal::none) {
  MultiHeadOptions options;
  options.masks = std::move(masks);
  options.causal = causal;
  return options;
}

MultiHeadOptions key_masked(const Mask& mask, Causal causal = Causal::none) {
  MultiHeadOptions options;
  options.key_mask = mask;
  options.causal = causal;
  return options;
}

Numbers output_of(const MultiHeadAttention& module, const Tensor3& x,
                  const MultiHeadOptions& options = {}) {
  return numbers(module.forward(x, x, x, options).output);
}

/// Zero queries and keys: each row is the mean of the visible values. One head, width 1.
MultiHeadAttention averaging_module() {
  MultiHeadAttention module(plain(1, 1));
  module.load({{"in_proj_weight", nd_array({3, 1}, {0, 0, 1})},
               {"out_proj.weight", nd_array({1, 1}, {1})}});
  return module;
}

/// Random parameters of any configuration, and the same for the oracle.
struct RandomModule {
  MultiHeadAttention module;
  oracle::MultiHead same;
  StateDict state;

  RandomModule(RandomInput& random, const MultiHeadConfig& config) : module(config) {
    const std::size_t d = config.embed_dim;
    state = {{"q_proj_weight", random.nd_array({d, d})},
             {"k_proj_weight", random.nd_array({d, config.kdim})},
             {"v_proj_weight", random.nd_array({d, config.vdim})},
             {"out_proj.weight", random.nd_array({d, d})}};
    same.heads = config.num_heads;
    same.query_weight = numbers(state.at("q_proj_weight"));
    same.key_weight = numbers(state.at("k_proj_weight"));
    same.value_weight = numbers(state.at("v_proj_weight"));
    same.output_weight = numbers(state.at("out_proj.weight"));
    if (config.bias) {
      const NdArray in = random.nd_array({3 * d}), out = random.nd_array({d});
      state["in_proj_bias"] = in;
      state["out_proj.bias"] = out;
      const auto part = [&](std::size_t n) {
        return Numbers{{d}, std::vector<double>(in.data() + n * d, in.data() + (n + 1) * d)};
      };
      same.query_bias = part(0);
      same.key_bias = part(1);
      same.value_bias = part(2);
      same.output_bias = numbers(out);
    }
    module.load(state);
  }
};

const Tensor3 kToy = tensor3({1, 2, 2}, {1, 2, 3, -1});

}  // namespace

// ---- faults that happened to others ---------------------------------------------------------

TEST_CASE("module: the golden toy, with and without causality") {
  const MultiHeadAttention module = open_module(2, 2);
  const auto open = module.forward(kToy, kToy, kToy, {});
  CHECK(mismatch(numbers(open.output),
                 reshaped(list({2.761594, 1.992582, 2.995055, -0.857722}), {2, 2}),
                 kSixDecimals) == "");
  CHECK(mismatch(numbers(open.weights),
                 reshaped(list({0.119203, 0.880797, 0.002473, 0.997527,  //
                                0.997527, 0.002473, 0.047426, 0.952574}),
                          {2, 2, 2}),
                 kSixDecimals) == "");
  const auto causal = module.forward(kToy, kToy, kToy, masked({}, Causal::square));
  CHECK(mismatch(numbers(causal.output), reshaped(list({1, 2, 2.995055, -0.857722}), {2, 2}),
                 kSixDecimals) == "");
}

TEST_CASE("module: asking for the passes changes the result, or drops causality") {
  const MultiHeadAttention module = open_module(2, 2);
  for (const Causal causal : {Causal::none, Causal::square}) {
    Trace trace;
    const auto traced = module.forward(kToy, kToy, kToy, masked({}, causal), &trace);
    const auto silent = module.forward(kToy, kToy, kToy, masked({}, causal));
    CHECK(other_bits(traced.output, silent.output) == "");
    CHECK(other_bits(traced.weights, silent.weights) == "");
  }
}

TEST_CASE("module: a head without a key disturbs the other head") {
  const MultiHeadAttention module = open_module(2, 2);
  const auto open = module.forward(kToy, kToy, kToy, {});
  const auto half = module.forward(kToy, kToy, kToy, masked({keep({1, 2, 1, 1}, {1, 0})}));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(half.output(0, i, 0) == open.output(0, i, 0));
    CHECK(half.output(0, i, 1) == 0);
    CHECK(half.weights(0, 1, i, 0) == 0);
    CHECK(half.weights(0, 1, i, 1) == 0);
  }
}

TEST_CASE("module: heads are merged without a transpose") {
  // each token sees itself alone, so what goes in comes out
  const MultiHeadAttention module = open_module(2, 2);
  const auto self = masked({keep({2, 2}, {1, 0, 0, 1})});
  const Tensor3 one = tensor3({1, 2, 2}, {1, 2, 3, 4});
  CHECK(mismatch(output_of(module, one, self), numbers(one), kExact) == "");
  const Tensor3 two = tensor3({2, 2, 2}, {1, 2, 3, 4, 11, 12, 13, 14});
  CHECK(mismatch(output_of(module, two, self), numbers(two), kExact) == "");
}

TEST_CASE("module: samples of a batch attend to each other") {
  const MultiHeadAttention module = open_module(1, 1);
  CHECK(mismatch(output_of(module, tensor3({2, 1, 1}, {1, 5})), reshaped(list({1, 5}), {2, 1, 1}),
                 kExact) == "");
  CHECK(mismatch(output_of(averaging_module(), tensor3({2, 3, 1}, {1, 2, 3, 10, 20, 60})),
                 reshaped(list({2, 2, 2, 30, 30, 30}), {2, 3, 1}), kSixDecimals) == "");
}

TEST_CASE("module: scaled by the width of the model instead of a head") {
  const MultiHeadAttention module = open_module(8, 2);
  const Tensor3 query = tensor3({1, 1, 8}, {2, 0, 0, 0, 0, 0, 0, 0});
  const Tensor3 key = tensor3({1, 2, 8}, {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const Tensor3 value = tensor3({1, 2, 8}, {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(mismatch(numbers(module.forward(query, key, value, {}).output),
                 list({0.880797, 0.880797, 0.880797, 0.880797, 0.5, 0.5, 0.5, 0.5}),
                 kSixDecimals) == "");
}

TEST_CASE("module: the parts of the packed in-projection in another order") {
  MultiHeadAttention module(plain(1, 1));
  module.load({{"in_proj_weight", nd_array({3, 1}, {2, 5, 7})},
               {"out_proj.weight", nd_array({1, 1}, {1})}});
  Trace trace;
  const Tensor3 x = tensor3({1, 2, 1}, {1, -1});
  const auto result = module.forward(x, x, x, {}, &trace);
  CHECK(mismatch(list({static_cast<double>(result.output(0, 0, 0))}), list({7}), kSixDecimals) ==
        "");
  CHECK(mismatch(numbers(trace.steps().at(0).tensor), reshaped(list({2, -2}), {2, 1}), kExact) ==
        "");
  CHECK(mismatch(numbers(trace.steps().at(1).tensor), reshaped(list({5, -5}), {2, 1}), kExact) ==
        "");
  CHECK(mismatch(numbers(trace.steps().at(2).tensor), reshaped(list({7, -7}), {2, 1}), kExact) ==
        "");
}

TEST_CASE("module: a projection is read transposed") {
  MultiHeadAttention module(plain(2, 1));
  const Tensor3 x = tensor3({1, 1, 2}, {1, 0});
  module.load({{"in_proj_weight", nd_array({6, 2}, {0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4})},
               {"out_proj.weight", identity(2)}});
  CHECK(mismatch(output_of(module, x), list({1, 3}), kExact) == "");
  module.load(
      {{"in_proj_weight", identity(2, 3)}, {"out_proj.weight", nd_array({2, 2}, {1, 2, 3, 4})}});
  CHECK(mismatch(output_of(module, x), list({1, 3}), kExact) == "");
}

TEST_CASE("module: a bias is used twice, or not at all, or by the wrong projection") {
  MultiHeadAttention module({1, 1, 1, 1, true, false, false});
  module.load({{"in_proj_weight", nd_array({3, 1}, {2, 5, 7})},
               {"in_proj_bias", nd_array({3}, {0.5F, 0.25F, 3})},
               {"out_proj.weight", nd_array({1, 1}, {2})},
               {"out_proj.bias", nd_array({1}, {10})}});
  Trace trace;
  const Tensor3 x = tensor3({1, 1, 1}, {1});
  const auto result = module.forward(x, x, x, {}, &trace);
  CHECK(mismatch(numbers(trace.steps().at(0).tensor), list({2.5}), kExact) == "");
  CHECK(mismatch(numbers(trace.steps().at(1).tensor), list({5.25}), kExact) == "");
  CHECK(mismatch(numbers(trace.steps().at(2).tensor), list({10}), kExact) == "");
  CHECK(mismatch(numbers(result.output), list({30}), kExact) == "");  // 2 (7 + 3) + 10
}

TEST_CASE("module: keys and values of another width than the queries") {
  MultiHeadAttention module({2, 1, 3, 1, false, false, false});
  module.load({{"q_proj_weight", nd_array({2, 2}, {0, 0, 0, 0})},
               {"k_proj_weight", nd_array({2, 3}, {1, 2, 3, 4, 5, 6})},
               {"v_proj_weight", nd_array({2, 1}, {1, 10})},
               {"out_proj.weight", identity(2)}});
  const auto result =
      module.forward(tensor3({1, 1, 2}, {1, 1}), tensor3({1, 2, 3}, {1, 0, 0, 0, 1, 1}),
                     tensor3({1, 2, 1}, {1, 3}), {});
  CHECK(shape_of(result.output) == Shape{1, 1, 2});
  CHECK(mismatch(numbers(result.output), list({2, 20}), kExact) == "");
}

TEST_CASE("module: the key mask has the other polarity, or is ignored") {
  const MultiHeadAttention module = averaging_module();
  const Tensor3 x = tensor3({1, 2, 1}, {1, 3});
  CHECK(mismatch(output_of(module, x, key_masked(keep({1, 2}, {1, 0}))),
                 reshaped(list({1, 1}), {2, 1}), kExact) == "");
  CHECK(mismatch(output_of(module, x, key_masked(keep({1, 2}, {0, 1}))),
                 reshaped(list({3, 3}), {2, 1}), kExact) == "");
}

TEST_CASE("module: a float key mask is ignored, or treated as boolean") {
  const MultiHeadAttention module = averaging_module();
  const Tensor3 x = tensor3({1, 2, 1}, {0, 4});
  const auto weighted = key_masked(bias({1, 2}, {0, 1.0986123F}));  // ln 3
  CHECK(mismatch(output_of(module, x, weighted), reshaped(list({3, 3}), {2, 1}), kSixDecimals) ==
        "");
  const auto by_float = module.forward(x, x, x, key_masked(bias({1, 2}, {0, -kInf})));
  const auto by_bool = module.forward(x, x, x, key_masked(keep({1, 2}, {1, 0})));
  CHECK(other_bits(by_float.output, by_bool.output) == "");
  CHECK(mismatch(numbers(by_float.output), reshaped(list({0, 0}), {2, 1}), kExact) == "");
}

TEST_CASE("module: keys padded in every sample shorten the output") {
  const MultiHeadAttention module = averaging_module();
  const Tensor3 x = tensor3({2, 6, 1}, {1, 2, 3, 4, 50, 60, 10, 20, 30, 40, 500, 600});
  const auto padded =
      module.forward(x, x, x, key_masked(keep({2, 6}, {1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0})));
  CHECK(shape_of(padded.output) == Shape{2, 6, 1});
  CHECK(shape_of(padded.weights) == Shape{2, 1, 6, 6});
  CHECK(mismatch(numbers(padded.output),
                 reshaped(list({2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 25, 25, 25, 25, 25, 25}), {2, 6, 1}),
                 kExact) == "");
}

TEST_CASE("module: padding between the keys, and the same as a mask on the scores") {
  RandomInput random(51);
  const RandomModule r(random, {6, 3, 6, 6, true, false, false});
  const Tensor3 x = random.tensor3({2, 4, 6});
  const std::vector<std::uint8_t> holes = {0, 1, 0, 1, 1, 0, 1, 1};
  const auto by_key = r.module.forward(x, x, x, key_masked(keep({2, 4}, holes)));
  const auto by_mask = r.module.forward(x, x, x, masked({keep({2, 1, 1, 4}, holes)}));
  CHECK(other_bits(by_key.output, by_mask.output) == "");
  CHECK(other_bits(by_key.weights, by_mask.weights) == "");
}

TEST_CASE("module: causal and padding: one of the two is lost") {
  const MultiHeadAttention module = averaging_module();
  const Tensor3 x = tensor3({1, 2, 1}, {1, 3});
  const auto run = [&](const MultiHeadOptions& options) {
    return reshaped(output_of(module, x, options), {2});
  };
  const Mask first_padded = keep({1, 2}, {0, 1});
  CHECK(mismatch(run({}), list({2, 2}), kExact) == "");
  CHECK(mismatch(run(masked({}, Causal::square)), list({1, 2}), kExact) == "");
  CHECK(mismatch(run(key_masked(first_padded)), list({3, 3}), kExact) == "");
  CHECK(mismatch(run(key_masked(first_padded, Causal::square)), list({0, 3}), kExact) == "");
}

TEST_CASE("module: the key mask is dropped beside another mask") {
  const MultiHeadAttention module = averaging_module();
  const Tensor3 x = tensor3({1, 3, 1}, {1, 3, 8});
  MultiHeadOptions options = masked({keep({3}, {0, 1, 1})});
  options.key_mask = keep({1, 3}, {1, 1, 0});
  CHECK(mismatch(output_of(module, x, options), reshaped(list({3, 3, 3}), {3, 1}), kExact) == "");
}

TEST_CASE("module: rubbish in padded tokens reaches the output") {
  RandomInput random(52);
  const RandomModule r(random, {6, 2, 6, 6, true, false, false});
  const Tensor3 query = random.tensor3({2, 3, 6}), key = random.tensor3({2, 4, 6});
  const auto options = key_masked(keep({2, 4}, {1, 1, 0, 0, 0, 1, 1, 1}));
  const auto before = r.module.forward(query, key, key, options);
  for (const float rubbish : {kNaN, kInf, -kInf, kMaxFloat}) {
    Tensor3 dirty = key;
    xt::view(dirty, 0, xt::range(2, 4)) = rubbish;
    xt::view(dirty, 1, 0) = rubbish;
    const auto after = r.module.forward(query, dirty, dirty, options);
    CHECK(other_bits(after.output, before.output) == "");
    CHECK(other_bits(after.weights, before.weights) == "");
  }
}

TEST_CASE("module: a sample without a key becomes NaN instead of the output bias") {
  RandomInput random(53);
  const RandomModule r(random, {4, 2, 4, 4, true, false, false});
  const Tensor3 x = random.tensor3({2, 3, 4});
  const auto result = r.module.forward(x, x, x, key_masked(keep({2, 3}, {0, 0, 0, 1, 1, 1})));
  const auto& bias_out = r.state.at("out_proj.bias");
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t c = 0; c < 4; ++c) {
      CHECK(result.output(0, i, c) == bias_out(c));
    }
    CHECK(result.weights(0, 1, i, 2) == 0);
  }
  const auto open = r.module.forward(x, x, x, {});
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK(result.output(1, 2, c) == open.output(1, 2, c));
  }
}

TEST_CASE("module: dropout at inference: other bits in the second run") {
  RandomInput random(54);
  const RandomModule r(random, {6, 3, 5, 4, true, false, false});
  const Tensor3 query = random.tensor3({2, 4, 6}), key = random.tensor3({2, 5, 5});
  const Tensor3 value = random.tensor3({2, 5, 4});
  const auto first = r.module.forward(query, key, value, {});
  const auto second = r.module.forward(query, key, value, {});
  CHECK(other_bits(first.output, second.output) == "");
  CHECK(other_bits(first.weights, second.weights) == "");
}

TEST_CASE("module: empty dimensions") {
  RandomInput random(55);
  const RandomModule r(random, {4, 2, 4, 4, true, false, false});
  const auto run = [&](std::size_t batch, std::size_t queries, std::size_t keys) {
    const Tensor3 query = random.tensor3({batch, queries, 4});
    const Tensor3 key = random.tensor3({batch, keys, 4});
    const auto result = r.module.forward(query, key, key, {});
    CHECK(shape_of(result.output) == Shape{batch, queries, 4});
    CHECK(shape_of(result.weights) == Shape{batch, 2, queries, keys});
    CHECK(shape_of(average_heads(result.weights)) == Shape{batch, queries, keys});
    return result;
  };
  CHECK(run(2, 0, 3).output.size() == 0);
  CHECK(run(0, 2, 3).output.size() == 0);
  const auto no_keys = run(1, 1, 0);
  for (std::size_t c = 0; c < 4; ++c) {
    CHECK(no_keys.output(0, 0, c) == r.state.at("out_proj.bias")(c));
  }
}

TEST_CASE("module: only the added keys are left") {
  MultiHeadAttention module({1, 1, 1, 1, false, true, true});
  module.load({{"in_proj_weight", nd_array({3, 1}, {0, 0, 1})},
               {"bias_k", nd_array({1, 1, 1}, {0})},
               {"bias_v", nd_array({1, 1, 1}, {6})},
               {"out_proj.weight", nd_array({1, 1}, {1})}});
  const Tensor3 query = tensor3({1, 2, 1}, {1, 1}), none = tensor3({1, 0, 1}, {});
  const auto no_keys = module.forward(query, none, none, {});
  CHECK(mismatch(numbers(no_keys.output), reshaped(list({3, 3}), {2, 1}), kExact) == "");
  const Tensor3 x = tensor3({1, 2, 1}, {9, 9});
  const auto hidden = module.forward(query, x, x, key_masked(keep({1, 2}, {0, 0}), Causal::square));
  CHECK(mismatch(numbers(hidden.output), reshaped(list({3, 3}), {2, 1}), kExact) == "");
  CHECK(mismatch(numbers(hidden.weights), reshaped(list({0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5}), {2, 4}),
                 kExact) == "");
}

// ---- against the oracle ---------------------------------------------------------------------

TEST_CASE("module: not the loop over its heads, on some branch, for few tokens or many") {
  RandomInput random(56);
  for (int turn = 0; turn < 40; ++turn) {
    const std::size_t heads = random.between(1, 4), width = heads * random.between(1, 9);
    const std::size_t kdim = random.between(1, 6), vdim = random.between(1, 6);
    const std::size_t batch = random.between(1, 3), queries = random.between(1, 20);
    const std::size_t keys = random.between(1, 20);
    CAPTURE(turn, heads, width, kdim, vdim, batch, queries, keys);
    const RandomModule r(random, {width, heads, kdim, vdim, random.chance(0.5), false, false});
    const Tensor3 query = random.tensor3({batch, queries, width});
    const Tensor3 key = random.tensor3({batch, keys, kdim});
    const Tensor3 value = random.tensor3({batch, keys, vdim});
    const std::vector<Mask> masks = {random.keep({batch, heads, queries, keys}, 0.7)};
    auto options = masked(masks, Causal::bottom_right);
    const Numbers want = oracle::multi_head(r.same, numbers(query), numbers(key), numbers(value),
                                            oracle_bias(masks, options.causal, queries, keys));
    for (const Branch branch : {Branch::plain, Branch::fast, Branch::with_weights}) {
      options.branch = branch;
      // numbers of size `width`, not of size 1: the bound grows with them
      CHECK(mismatch(numbers(r.module.forward(query, key, value, options).output), want,
                     {2e-5, 1e-5}) == "");
    }
  }
}

// ---- parameters -----------------------------------------------------------------------------

TEST_CASE("module: packed and separate weights give other bits") {
  RandomInput random(57);
  const RandomModule r(random, {6, 2, 6, 6, true, false, false});
  StateDict packed = r.state;
  NdArray all = NdArray::from_shape({18, 6});
  std::size_t row = 0;
  for (const char* name : {"q_proj_weight", "k_proj_weight", "v_proj_weight"}) {
    xt::view(all, xt::range(row, row + 6)) = packed.at(name);
    packed.erase(name);
    row += 6;
  }
  packed["in_proj_weight"] = all;
  MultiHeadAttention module({6, 2, 6, 6, true, false, false});
  module.load(packed);
  const Tensor3 x = random.tensor3({2, 3, 6});
  CHECK(other_bits(module.forward(x, x, x, {}).output, r.module.forward(x, x, x, {}).output) == "");
}

TEST_CASE("module: a failed load leaves half of the parameters") {
  MultiHeadAttention module = open_module(2, 2);
  const auto before = module.forward(kToy, kToy, kToy, {});
  const NdArray twos = identity(2, 3) * 2.0F;
  CHECK(refusal(ErrorCode::STATE_DICT, {"out_proj.weight [2, 2]", "missing"}, [&] {
          module.load({{"in_proj_weight", twos}});
        }) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"out_proj.weight", "[2, 3]", "[2, 2]"}, [&] {
          module.load({{"in_proj_weight", twos},
                       {"out_proj.weight", nd_array({2, 3}, {1, 2, 3, 4, 5, 6})}});
        }) == "");
  CHECK(refusal(ErrorCode::STATE_DICT, {"out_proj.bias [2]", "does not belong"}, [&] {
          module.load({{"in_proj_weight", twos},
                       {"out_proj.weight", identity(2)},
                       {"out_proj.bias", nd_array({2}, {1, 1})}});
        }) == "");
  CHECK(other_bits(module.forward(kToy, kToy, kToy, {}).output, before.output) == "");
  module.load({{"in_proj_weight", twos}, {"out_proj.weight", identity(2)}});
  CHECK(other_bits(module.forward(kToy, kToy, kToy, {}).output, before.output) != "");
}

TEST_CASE("module: the number of parameters depends on the heads") {
  const auto count = [](const MultiHeadConfig& config) {
    return MultiHeadAttention(config).parameter_count();
  };
  for (const std::size_t heads : Shape{1, 2, 4, 8, 64}) {
    CHECK(count({512, heads, 512, 512, false, false, false}) == 1048576);
    CHECK(count({512, heads, 512, 512, true, false, false}) == 1050624);
  }
  CHECK(count({768, 12, 768, 768, true, false, false}) == 2362368);
  CHECK(count({4, 2, 3, 5, false, false, false}) == 16 + 12 + 20 + 16);
  CHECK(count({4, 2, 3, 5, true, true, true}) == 16 + 12 + 20 + 16 + 16 + 8);
}

TEST_CASE("average over heads: over the wrong axis, or a sum") {
  const Tensor4 weights = tensor4({2, 3, 1, 2}, {1, 0, 0, 1, 0.5F, 0.5F,  //
                                                 0, 1, 0, 1, 0.75F, 0.25F});
  CHECK(mismatch(numbers(average_heads(weights)), reshaped(list({0.5, 0.5, 0.25, 0.75}), {2, 1, 2}),
                 kSixDecimals) == "");
}

// ---- heads and projections ------------------------------------------------------------------

TEST_CASE("heads: columns go to the wrong head") {
  RandomInput random(58);
  const Tensor3 x = random.tensor3({2, 3, 8});
  const Tensor4 split = split_heads(x, 4);
  REQUIRE(shape_of(split) == Shape{2, 4, 3, 2});
  std::size_t wrong = 0;
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t column = 0; column < 8; ++column) {
        wrong += split(b, column / 2, i, column % 2) == x(b, i, column) ? 0U : 1U;
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(other_bits(merge_heads(split), x) == "");
  CHECK(mismatch(numbers(split_heads(tensor3({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), 2)),
                 reshaped(list({1, 2, 5, 6, 3, 4, 7, 8}), {2, 2, 2}), kExact) == "");
}

TEST_CASE("heads: merged the way they lie in memory") {
  const Tensor4 x = tensor4({1, 2, 2, 1}, {1, 2, 3, 4});
  CHECK(mismatch(numbers(merge_heads(x)), reshaped(list({1, 3, 2, 4}), {2, 2}), kExact) == "");
  RandomInput random(59);
  for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{1, 1, 3, 2}, Shape{3, 4, 1, 1}}) {
    const Tensor4 heads = random.tensor4(shape);
    CHECK(other_bits(split_heads(merge_heads(heads), shape[1]), heads) == "");
  }
  CHECK(shape_of(merge_heads(random.tensor4({2, 3, 0, 5}))) == Shape{2, 0, 15});
  CHECK(shape_of(split_heads(random.tensor3({0, 2, 6}), 3)) == Shape{0, 3, 2, 2});
}

TEST_CASE("projection: the weight is read transposed, the bias lost") {
  const Tensor3 x = tensor3({1, 2, 3}, {1, 2, 3, 0, -1, 1});
  const Tensor2 weight = tensor2({2, 3}, {1, 10, 100, 2, 20, 200});
  Tensor1 bias = Tensor1::from_shape({2});
  bias(0) = 0.5F;
  bias(1) = -7;
  CHECK(mismatch(numbers(linear(x, weight, Tensor1{})), reshaped(list({321, 642, 90, 180}), {2, 2}),
                 kExact) == "");
  CHECK(mismatch(numbers(linear(x, weight, bias)), reshaped(list({321.5, 635, 90.5, 173}), {2, 2}),
                 kExact) == "");
  // square, where a transpose keeps the shape
  CHECK(mismatch(
            numbers(linear(tensor3({1, 1, 2}, {1, 0}), tensor2({2, 2}, {1, 2, 3, 4}), Tensor1{})),
            list({1, 3}), kExact) == "");
}

TEST_CASE("projection: not the loops of the oracle") {
  RandomInput random(60);
  for (const auto& [in, out] :
       std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {3, 5}, {17, 2}, {64, 64}}) {
    const Tensor3 x = random.tensor3({2, 3, in});
    const Tensor2 weight = random.nd_array({out, in});
    const Tensor1 bias = random.nd_array({out});
    const Numbers want = oracle::linear(numbers(x), numbers(weight), numbers(bias));
    // summed in double: nothing but the last rounding
    CHECK(mismatch(numbers(linear(x, weight, bias)), want, {0, 1e-7}) == "");
  }
}

TEST_CASE("projection: summed in single precision") {
  // 1e8 + 1 - 1e8: the 1 is lost where the sum is a float
  CHECK(mismatch(numbers(linear(tensor3({1, 1, 3}, {1e8F, 1, -1e8F}), tensor2({1, 3}, {1, 1, 1}),
                                Tensor1{})),
                 list({1}), kExact) == "");
}
