// Every function that throws: the code, and a message with the argument and both shapes. After each
// error the next valid call is checked too (see refusal).

#include <functional>

#include "attention.hpp"
#include "attention_checks.hpp"
#include "catch.hpp"
#include "causality.hpp"
#include "faulty.hpp"
#include "heads.hpp"
#include "linear.hpp"
#include "mask.hpp"
#include "mask_array.hpp"
#include "multi_head.hpp"
#include "statistics.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

using Parts = std::vector<std::string>;

Tensor4 zeros(const Shape& shape) { return Tensor4(xt::zeros<float>(shape)); }

std::string attention_refusal(ErrorCode code, const Parts& parts, const Shape& q, const Shape& k,
                              const Shape& v) {
  return refusal(code, parts, [&] { attention(zeros(q), zeros(k), zeros(v), {}); });
}

std::string shapes_refusal(ErrorCode code, const Parts& parts, const Shape& q, const Shape& k,
                           const Shape& v) {
  return refusal(code, parts, [&] { require_attention_shapes(q, k, v); });
}

std::string mask_refusal(ErrorCode code, const Parts& parts, const Mask& mask) {
  const Tensor4 q = zeros({2, 4, 3, 1}), k = zeros({2, 2, 5, 1});
  return refusal(code, parts, [&] { attention(q, k, k, with({mask})); });
}

/// No pointer spans this squared, and no element need exist: another axis is 0.
constexpr std::size_t kHuge = std::size_t{1} << 31U;

MultiHeadAttention loaded_module(bool added_keys = false) {
  MultiHeadAttention module({4, 2, 3, 5, false, added_keys, added_keys});
  StateDict state = {{"q_proj_weight", xt::zeros<float>(Shape{4, 4})},
                     {"k_proj_weight", xt::zeros<float>(Shape{4, 3})},
                     {"v_proj_weight", xt::zeros<float>(Shape{4, 5})},
                     {"out_proj.weight", xt::zeros<float>(Shape{4, 4})}};
  if (added_keys) {
    state["bias_k"] = xt::zeros<float>(Shape{1, 1, 4});
    state["bias_v"] = xt::zeros<float>(Shape{1, 1, 4});
  }
  module.load(state);
  return module;
}

std::string forward_refusal(ErrorCode code, const Parts& parts, const MultiHeadOptions& options,
                            std::size_t keys = 6, bool added_keys = false) {
  return refusal(code, parts, [&] {
    const Tensor3 query = xt::zeros<float>({2, 3, 4});
    const Tensor3 key = xt::zeros<float>(Shape{2, keys, 3});
    const Tensor3 value = xt::zeros<float>(Shape{2, keys, 5});
    return loaded_module(added_keys).forward(query, key, value, options);
  });
}

}  // namespace

TEST_CASE("error: attention of tensors that do not fit") {
  const auto shape = ErrorCode::SHAPE;
  CHECK(attention_refusal(shape, {"q [1, 1, 2, 3]", "k [1, 1, 5, 4]", "head dim"}, {1, 1, 2, 3},
                          {1, 1, 5, 4}, {1, 1, 5, 3}) == "");
  CHECK(attention_refusal(shape, {"k [1, 1, 5, 3]", "v [1, 1, 6, 3]", "number of keys"},
                          {1, 1, 2, 3}, {1, 1, 5, 3}, {1, 1, 6, 3}) == "");
  CHECK(attention_refusal(shape, {"q [2, 1, 2, 3]", "k [3, 1, 5, 3]", "batch"}, {2, 1, 2, 3},
                          {3, 1, 5, 3}, {3, 1, 5, 3}) == "");
  CHECK(attention_refusal(shape, {"q [2, 1, 2, 3]", "v [1, 1, 5, 3]", "batch"}, {2, 1, 2, 3},
                          {2, 1, 5, 3}, {1, 1, 5, 3}) == "");
  CHECK(attention_refusal(shape, {"k [1, 2, 5, 3]", "v [1, 1, 5, 3]", "heads"}, {1, 2, 2, 3},
                          {1, 2, 5, 3}, {1, 1, 5, 3}) == "");
  CHECK(attention_refusal(shape, {"q [1, 1, 2, 0]", "head dim", "0"}, {1, 1, 2, 0}, {1, 1, 5, 0},
                          {1, 1, 5, 3}) == "");
  CHECK(attention_refusal(shape, {"v [1, 1, 5, 0]", "head dim", "0"}, {1, 1, 2, 3}, {1, 1, 5, 3},
                          {1, 1, 5, 0}) == "");
}

TEST_CASE("error: heads that do not divide, or none") {
  const auto heads = ErrorCode::HEADS;
  CHECK(attention_refusal(heads, {"q [1, 5, 2, 3]", "k [1, 2, 5, 3]"}, {1, 5, 2, 3}, {1, 2, 5, 3},
                          {1, 2, 5, 3}) == "");
  CHECK(attention_refusal(heads, {"q [1, 2, 2, 3]", "k [1, 4, 5, 3]"}, {1, 2, 2, 3}, {1, 4, 5, 3},
                          {1, 4, 5, 3}) == "");
  CHECK(attention_refusal(heads, {"q [1, 0, 2, 3]"}, {1, 0, 2, 3}, {1, 1, 5, 3}, {1, 1, 5, 3}) ==
        "");
  CHECK(attention_refusal(heads, {"k [1, 0, 5, 3]"}, {1, 2, 2, 3}, {1, 0, 5, 3}, {1, 0, 5, 3}) ==
        "");
}

TEST_CASE("error: shapes of another rank") {
  const auto rank = ErrorCode::RANK;
  CHECK(shapes_refusal(rank, {"q [3]", "2 to 4"}, {3}, {3}, {3}) == "");
  CHECK(shapes_refusal(rank, {"q []", "2 to 4"}, {}, {}, {}) == "");
  CHECK(shapes_refusal(rank, {"q [1, 1, 1, 2, 3]", "2 to 4"}, {1, 1, 1, 2, 3}, {1, 1, 1, 2, 3},
                       {1, 1, 1, 2, 3}) == "");
  CHECK(shapes_refusal(rank, {"q [2, 3]", "k [1, 2, 3]", "same number"}, {2, 3}, {1, 2, 3},
                       {2, 3}) == "");
  CHECK(shapes_refusal(rank, {"q [1, 2, 3]", "v [2, 3]", "same number"}, {1, 2, 3}, {1, 2, 3},
                       {2, 3}) == "");
  // with fewer axes the same rules hold, and the shapes are shown as given
  CHECK(shapes_refusal(ErrorCode::SHAPE, {"q [2, 3]", "k [5, 4]", "head dim"}, {2, 3}, {5, 4},
                       {5, 3}) == "");
  CHECK(shapes_refusal(ErrorCode::HEADS, {"q [5, 2, 3]", "k [2, 5, 3]"}, {5, 2, 3}, {2, 5, 3},
                       {2, 5, 3}) == "");
  CHECK_NOTHROW(require_attention_shapes(Shape{2, 3}, Shape{5, 3}, Shape{5, 7}));
  CHECK_NOTHROW(require_attention_shapes(Shape{4, 2, 3}, Shape{2, 5, 3}, Shape{2, 5, 7}));
  CHECK_NOTHROW(require_attention_shapes(Shape{0, 4, 0, 3}, Shape{0, 2, 0, 3}, Shape{0, 2, 0, 7}));
}

TEST_CASE("error: a scale that is no number") {
  for (const float scale : {kNaN, kInf, -kInf}) {
    AttentionOptions options;
    options.scale = scale;
    CHECK(refusal(ErrorCode::OPTION, {"scale", "finite"}, [&] {
            attention(zero_tokens(1), zero_tokens(1), zero_tokens(1), options);
          }) == "");
  }
}

TEST_CASE("error: a mask that does not broadcast") {
  const std::string scores = "[B, H, L, S] = [2, 4, 3, 5]";
  const auto refused = [&](const Shape& shape, const std::string& text) {
    const Mask boolean = NdBool(xt::ones<std::uint8_t>(shape));
    const Mask additive = NdArray(xt::zeros<float>(shape));
    const auto code = ErrorCode::MASK_SHAPE;
    return mask_refusal(code, {"mask " + text, scores}, boolean) +
           mask_refusal(code, {"mask " + text, scores}, additive);
  };
  CHECK(refused({4}, "[4]") == "");
  CHECK(refused({3}, "[3]") == "");
  CHECK(refused({15}, "[15]") == "");
  CHECK(refused({5, 3}, "[5, 3]") == "");
  CHECK(refused({2, 5}, "[2, 5]") == "");              // [B, S] is not [L, S]
  CHECK(refused({2, 2, 3, 5}, "[2, 2, 3, 5]") == "");  // the key/value heads
  CHECK(refused({3, 4, 3, 5}, "[3, 4, 3, 5]") == "");
  CHECK(refused({1, 1, 1, 1, 5}, "[1, 1, 1, 1, 5]") == "");
  CHECK(refused({5, 1}, "[5, 1]") == "");
  CHECK(refused({0}, "[0]") == "");
}

TEST_CASE("error: NaN or +Infinity as a bias") {
  for (const float value : {kNaN, kInf}) {
    CHECK(mask_refusal(ErrorCode::MASK_VALUE, {"mask [5]", "NaN", "+Infinity"},
                       bias({5}, {0, 0, 0, 0, value})) == "");
    const Mask bad = bias({1, 2}, {value, 0});
    CHECK(refusal(ErrorCode::MASK_VALUE, {"mask [1, 2]"}, [&] { to_additive(bad); }) == "");
    CHECK(refusal(ErrorCode::MASK_VALUE, {"mask [1, 2]"}, [&] {
            combine_masks({keep({2}, {1, 1}), bad});
          }) == "");
    // also where another mask hides it
    CHECK(refusal(ErrorCode::MASK_VALUE, {"mask [1, 2]"}, [&] {
            MaskRule({keep({2}, {0, 0}), bad}, Causal::none, {1, 1, 1, 2});
          }) == "");
  }
}

TEST_CASE("error: causal with L != S and no alignment") {
  const auto ambiguous = ErrorCode::AMBIGUOUS_CAUSAL;
  CHECK(refusal(ambiguous, {"L = 2", "S = 5", "top-left", "bottom-right"}, [] {
          attention(zero_tokens(2), zero_tokens(5), zero_tokens(5), with({}, Causal::square));
        }) == "");
  CHECK(refusal(ambiguous, {"L = 3", "S = 0"}, [] { causal_mask(3, 0, Causal::square); }) == "");
  CHECK(refusal(ambiguous, {"L = 3", "S = 4"}, [] {
          MaskRule({}, Causal::square, {1, 1, 3, 4});
        }) == "");
  // the free keys do not count
  CHECK_NOTHROW(MaskRule({}, Causal::square, {1, 1, 3, 4}, 1));
}

TEST_CASE("error: masks that cannot be built") {
  CHECK(refusal(ErrorCode::OPTION, {"lengths[1]", "4", "S = 3"}, [] {
          padding_mask({3, 4}, 3, PaddingSide::left);
        }) == "");
  CHECK(refusal(ErrorCode::OPTION, {"at least one"}, [] { combine_masks({}); }) == "");
  CHECK(refusal(ErrorCode::MASK_SHAPE, {"mask [2]"}, [] {
          combine_masks({keep({2}, {1, 1}), keep({3}, {1, 1, 1})});
        }) == "");
  CHECK(refusal(ErrorCode::MASK_SHAPE, {"mask [1, 1, 1, 1, 2]", "[B, H, L, S]"}, [] {
          combine_masks({keep({1, 1, 1, 1, 2}, {1, 1})});
        }) == "");
}

TEST_CASE("error: a size that no pointer spans wraps around") {
  const auto too_large = ErrorCode::OUT_OF_MEMORY;
  const std::string side = "2147483648";
  CHECK(refusal(too_large, {"mask", side}, [] { causal_mask(kHuge, kHuge, Causal::square); }) ==
        "");
  CHECK(refusal(too_large, {"scores", side}, [] {
          const Tensor4 long_and_empty = zeros({1, 1, kHuge, 0});
          dot_products(long_and_empty, long_and_empty);
        }) == "");
  CHECK(refusal(too_large, {"output", side}, [] {
          weighted_sum(zeros({1, 1, kHuge, 0}), zeros({1, 1, 0, kHuge}),
                       MaskRule({}, Causal::none, {1, 1, kHuge, 0}));
        }) == "");
  CHECK(refusal(too_large, {"projection", side}, [] {
          const Tensor3 x = xt::zeros<float>(Shape{1, kHuge, 0});
          const Tensor2 weight = xt::zeros<float>(Shape{kHuge, 0});
          linear(x, weight, Tensor1{});
        }) == "");
}

TEST_CASE("error: heads that do not divide a width") {
  const Tensor3 x = xt::zeros<float>({1, 2, 6});
  CHECK(refusal(ErrorCode::HEADS, {"numHeads = 4", "[1, 2, 6]"}, [&] { split_heads(x, 4); }) == "");
  CHECK(refusal(ErrorCode::HEADS, {"numHeads = 0", "[1, 2, 6]"}, [&] { split_heads(x, 0); }) == "");
  CHECK(refusal(ErrorCode::HEADS, {"numHeads = 7"}, [&] { split_heads(x, 7); }) == "");
}

TEST_CASE("error: a module that cannot be") {
  const auto build = [](std::size_t d, std::size_t heads, std::size_t kdim, std::size_t vdim) {
    return [=] { MultiHeadAttention({d, heads, kdim, vdim, true, false, false}); };
  };
  CHECK(refusal(ErrorCode::HEADS, {"numHeads = 3", "embedDim = 4"}, build(4, 3, 4, 4)) == "");
  CHECK(refusal(ErrorCode::HEADS, {"numHeads = 0", "embedDim = 4"}, build(4, 0, 4, 4)) == "");
  CHECK(refusal(ErrorCode::HEADS, {"numHeads = 8", "embedDim = 4"}, build(4, 8, 4, 4)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"embedDim", "above 0"}, build(0, 1, 4, 4)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"kdim", "above 0"}, build(4, 1, 0, 4)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"vdim", "above 0"}, build(4, 1, 4, 0)) == "");
}

TEST_CASE("error: parameters that are missing, unexpected or of another shape") {
  const auto load = [](const MultiHeadConfig& config, const StateDict& state) {
    return [=] { MultiHeadAttention(config).load(state); };
  };
  const auto of = [](const Shape& shape) { return NdArray(xt::zeros<float>(shape)); };
  const MultiHeadConfig plain = {4, 2, 4, 4, false, false, false};
  const MultiHeadConfig biased = {4, 2, 4, 4, true, false, false};
  const MultiHeadConfig added = {4, 2, 4, 4, false, true, false};
  const auto missing = ErrorCode::STATE_DICT, shape = ErrorCode::SHAPE;
  const StateDict good = {{"in_proj_weight", of({12, 4})}, {"out_proj.weight", of({4, 4})}};
  const auto plus = [&](const char* name, const Shape& size) {
    StateDict state = good;
    state[name] = of(size);
    return state;
  };

  CHECK(refusal(missing, {"missing"}, load(plain, {})) == "");
  CHECK(refusal(missing, {"out_proj.weight [4, 4]"},
                load(plain, {{"in_proj_weight", of({12, 4})}})) == "");
  CHECK(refusal(missing, {"in_proj_bias [12]"}, load(biased, good)) == "");
  CHECK(refusal(missing, {"bias_k [1, 1, 4]"}, load(added, good)) == "");
  CHECK(refusal(missing, {"in_proj_bias [12]", "does not belong"},
                load(plain, plus("in_proj_bias", {12}))) == "");
  CHECK(refusal(missing, {"extra [3]", "does not belong"}, load(plain, plus("extra", {3}))) == "");
  CHECK(refusal(missing, {"q_proj_weight", "does not belong"},
                load(plain, plus("q_proj_weight", {4, 4}))) == "");

  CHECK(refusal(shape, {"in_proj_weight", "[4, 12]", "[12, 4]"},
                load(plain, plus("in_proj_weight", {4, 12}))) == "");
  CHECK(refusal(shape, {"out_proj.weight", "[16]", "[4, 4]"},
                load(plain, plus("out_proj.weight", {16}))) == "");
  CHECK(refusal(shape, {"in_proj_bias", "[4]", "[12]"}, load(biased, plus("in_proj_bias", {4}))) ==
        "");
  CHECK(refusal(shape, {"bias_k", "[4]", "[1, 1, 4]"}, load(added, plus("bias_k", {4}))) == "");
  CHECK(refusal(shape, {"k_proj_weight", "[4, 4]", "[4, 3]"},
                load({4, 2, 3, 4, false, false, false}, {{"q_proj_weight", of({4, 4})},
                                                         {"k_proj_weight", of({4, 4})},
                                                         {"v_proj_weight", of({4, 4})},
                                                         {"out_proj.weight", of({4, 4})}})) == "");
  // packed weights cannot hold other widths
  CHECK(refusal(missing, {"q_proj_weight [4, 4]", "missing"},
                load({4, 2, 3, 4, false, false, false}, good)) == "");
}

TEST_CASE("error: a module without parameters") {
  const MultiHeadAttention module({4, 2, 4, 4, false, false, false});
  const Tensor3 x = xt::zeros<float>({1, 2, 4});
  CHECK(refusal(ErrorCode::STATE_DICT, {"no parameters"},
                [&] { return module.forward(x, x, x, {}); }) == "");
}

TEST_CASE("error: inputs of a module that do not fit") {
  const MultiHeadAttention module = loaded_module();
  const auto check = [&](const Shape& query, const Shape& key, const Shape& value) {
    return [=, &module] { module.require_shapes(query, key, value); };
  };
  const auto rank = ErrorCode::RANK, shape = ErrorCode::SHAPE;
  CHECK(refusal(rank, {"query [4]", "2 or 3"}, check({4}, {3}, {5})) == "");
  CHECK(refusal(rank, {"query [1, 1, 3, 4]"}, check({1, 1, 3, 4}, {1, 1, 6, 3}, {1, 1, 6, 5})) ==
        "");
  CHECK(refusal(rank, {"query [3, 4]", "key [2, 6, 3]"}, check({3, 4}, {2, 6, 3}, {2, 6, 5})) ==
        "");
  CHECK(refusal(rank, {"value [6, 5]"}, check({2, 3, 4}, {2, 6, 3}, {6, 5})) == "");
  CHECK(refusal(shape, {"query [2, 3, 5]", "query must be 4"},
                check({2, 3, 5}, {2, 6, 3}, {2, 6, 5})) == "");
  CHECK(refusal(shape, {"key [2, 6, 4]", "key must be 3"},
                check({2, 3, 4}, {2, 6, 4}, {2, 6, 5})) == "");
  CHECK(refusal(shape, {"value [2, 6, 3]", "value must be 5"},
                check({2, 3, 4}, {2, 6, 3}, {2, 6, 3})) == "");
  CHECK(refusal(shape, {"query [2, 3, 4]", "key [1, 6, 3]", "batch"},
                check({2, 3, 4}, {1, 6, 3}, {2, 6, 5})) == "");
  CHECK(refusal(shape, {"value [3, 6, 5]", "batch"}, check({2, 3, 4}, {2, 6, 3}, {3, 6, 5})) == "");
  CHECK(refusal(shape, {"key [2, 6, 3]", "value [2, 7, 5]", "length"},
                check({2, 3, 4}, {2, 6, 3}, {2, 7, 5})) == "");
  CHECK(refusal(shape, {"key [6, 3]", "value [7, 5]", "length"}, check({3, 4}, {6, 3}, {7, 5})) ==
        "");
  CHECK_NOTHROW(module.require_shapes({3, 4}, {6, 3}, {6, 5}));
  CHECK_NOTHROW(module.require_shapes({0, 3, 4}, {0, 0, 3}, {0, 0, 5}));
  // forward asks the same
  CHECK(refusal(shape, {"key [1, 6, 4]", "key must be 3"}, [&] {
          const Tensor3 query = xt::zeros<float>({1, 3, 4}), key = xt::zeros<float>({1, 6, 4});
          const Tensor3 value = xt::zeros<float>({1, 6, 5});
          return module.forward(query, key, value, {});
        }) == "");
}

TEST_CASE("error: masks of a module that do not fit") {
  const auto key_masked = [](const Mask& mask) {
    MultiHeadOptions options;
    options.key_mask = mask;
    return options;
  };
  const auto ones = [](const Shape& shape) { return Mask(NdBool(xt::ones<std::uint8_t>(shape))); };
  const auto mask_shape = ErrorCode::MASK_SHAPE;
  CHECK(forward_refusal(mask_shape, {"keyMask [6]", "[B, S] = [2, 6]"}, key_masked(ones({6}))) ==
        "");
  CHECK(forward_refusal(mask_shape, {"keyMask [2, 3]", "[2, 6]"}, key_masked(ones({2, 3}))) == "");
  CHECK(forward_refusal(mask_shape, {"keyMask [1, 6]", "[2, 6]"}, key_masked(ones({1, 6}))) == "");
  CHECK(forward_refusal(mask_shape, {"keyMask [2, 1, 1, 6]", "[2, 6]"},
                        key_masked(ones({2, 1, 1, 6}))) == "");
  // the added keys are not among those that a mask speaks of
  CHECK(forward_refusal(mask_shape, {"keyMask [2, 8]", "[2, 6]"}, key_masked(ones({2, 8})), 6,
                        true) == "");
  CHECK(forward_refusal(ErrorCode::MASK_VALUE, {"keyMask [2, 6]", "NaN"},
                        key_masked(Mask(NdArray(xt::zeros<float>(Shape{2, 6}) + kNaN)))) == "");

  MultiHeadOptions options;
  options.masks = {ones({2, 6})};  // [B, S] is not [L, S]
  CHECK(forward_refusal(mask_shape, {"mask [2, 6]", "[2, 2, 3, 6]"}, options) == "");
  options.masks = {ones({3, 8})};
  CHECK(forward_refusal(mask_shape, {"mask [3, 8]", "[2, 2, 3, 6]"}, options, 6, true) == "");
  options.masks = {bias({1}, {kInf})};
  CHECK(forward_refusal(ErrorCode::MASK_VALUE, {"mask [1]"}, options) == "");
  options = {};
  options.causal = Causal::square;
  CHECK(forward_refusal(ErrorCode::AMBIGUOUS_CAUSAL, {"L = 3", "S = 6"}, options) == "");
}

TEST_CASE("error: faults, statistics and comparisons") {
  CHECK(refusal(ErrorCode::OPTION, {"fault", "\"no-such\""}, [] {
          faulty_attention("no-such", zero_tokens(2), zero_tokens(2), zero_tokens(2));
        }) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"k [1, 1, 2, 1]", "v [1, 1, 3, 1]"}, [] {
          faulty_attention("no-mask", zero_tokens(2), zero_tokens(2), zero_tokens(3));
        }) == "");
  CHECK(refusal(ErrorCode::AMBIGUOUS_CAUSAL, {"L = 2", "S = 3"}, [] {
          faulty_attention("mask-after-softmax", zero_tokens(2), zero_tokens(3), zero_tokens(3));
        }) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"x [2, 0]"}, [] { moments(nd_array({2, 0}, {})); }) == "");
  CHECK(refusal(ErrorCode::RANK, {"x []"}, [] { row_sums(nd_array({}, {1})); }) == "");
  CHECK(refusal(ErrorCode::RANK, {"x []"}, [] { row_entropies(nd_array({}, {1})); }) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"sizes [2]", "values [1]"}, [] {
          growth_exponent(nd_array({2}, {1, 2}), nd_array({1}, {1}));
        }) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"two different sizes"}, [] {
          growth_exponent(nd_array({2}, {3, 3}), nd_array({2}, {1, 2}));
        }) == "");
  CHECK(refusal(ErrorCode::OPTION, {"above 0"}, [] {
          growth_exponent(nd_array({2}, {1, 2}), nd_array({2}, {1, 0}));
        }) == "");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<double, double>> impossible = {
      {0, 1}, {-1, 1}, {nan, 1}, {1, 0}, {1, nan}};
  for (const auto& pair : impossible) {
    CHECK(refusal(ErrorCode::OPTION, {"headDim", "samples"},
                  [&] { dot_product_moments(pair.first, pair.second); }) == "");
  }
  CHECK(refusal(ErrorCode::FUNCTION, {"[3, 2]", "[2, 3]"}, [] {
          compare_positions(nd_array({2, 3}, std::vector<float>(6)),
                            nd_array({3, 2}, std::vector<float>(6)), 0, 0);
        }) == "");
}

TEST_CASE("error: what was built before an error is changed by it") {
  const Tensor4 q = zeros({1, 1, 2, 1});
  const Tensor4 before = q;
  Trace trace;
  CHECK_THROWS_AS(attention(q, q, q, with({keep({5}, {1, 1, 1, 1, 1})}), &trace), Error);
  CHECK(trace.steps().empty());
  CHECK(other_bits(q, before) == "");
}
