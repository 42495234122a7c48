#include "mask.hpp"

#include <cmath>
#include <utility>
#include <variant>

#include "attention.hpp"
#include "catch.hpp"
#include "float_range.hpp"
#include "mask_array.hpp"
#include "softmax.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

Numbers means(std::size_t queries, const std::vector<float>& v, const Options& options) {
  return mean_of_visible(queries, v, options);
}

Numbers weights_of(const std::vector<float>& v, const Mask& mask) {
  return numbers(attention(zero_tokens(1), zero_tokens(v.size()), tokens(v), with({mask})).weights);
}

const std::vector<Shape> kBroadcastable = {
    {},           {5},          {1},          {4, 5},       {4, 1},       {1, 5},
    {1, 1},       {3, 4, 5},    {1, 4, 5},    {3, 1, 5},    {3, 4, 1},    {3, 1, 1},
    {2, 3, 4, 5}, {2, 1, 1, 5}, {2, 1, 4, 1}, {1, 3, 1, 5}, {2, 3, 1, 1}, {1, 3, 4, 1},
    {2, 1, 1, 1}, {1, 1, 4, 5}, {1, 1, 1, 1}, {2, 1, 4, 5}, {2, 3, 1, 5}, {2, 3, 4, 1},
};
const ScoreShape kScores = {2, 3, 4, 5};

}  // namespace

// ---- faults that happened to others: polarity, kinds, alignment, combinations ---------------

TEST_CASE("true means leave out instead of may attend") {
  CHECK(mismatch(means(1, {1, 3}, {{keep({2}, {1, 0})}}), list({1}), kExact) == "");
  CHECK(mismatch(means(1, {1, 3}, {{keep({2}, {0, 1})}}), list({3}), kExact) == "");
}

TEST_CASE("only the value 1 counts as true") {
  CHECK(mismatch(means(1, {1, 3}, {{keep({2}, {255, 0})}}), list({1}), kExact) == "");
  CHECK(mismatch(means(1, {1, 3}, {{keep({2}, {2, 128})}}), list({2}), kExact) == "");
}

TEST_CASE("a float mask of 0 and 1 is read as boolean, or a boolean one is added") {
  const Numbers additive = weights_of({1, 3}, bias({2}, {1, 0}));
  CHECK(mismatch(additive, list({0.731059, 0.268941}), kSixDecimals) == "");
  CHECK(mismatch(means(1, {1, 3}, {{bias({2}, {1, 0})}}), list({1.537883}), kSixDecimals) == "");
  CHECK(mismatch(means(1, {1, 3}, {{keep({2}, {1, 0})}}), list({1}), kExact) == "");
}

TEST_CASE("causal with L != S: one alignment is taken for the other") {
  const std::vector<float> five = {1, 2, 3, 4, 5};
  const auto top_left = [](std::size_t queries, const std::vector<float>& v) {
    return means(queries, v, {{}, Causal::top_left});
  };
  const auto bottom_right = [](std::size_t queries, const std::vector<float>& v) {
    return means(queries, v, {{}, Causal::bottom_right});
  };
  CHECK(mismatch(top_left(2, five), list({1, 1.5}), kExact) == "");
  CHECK(mismatch(top_left(5, {1, 2}), list({1, 1.5, 1.5, 1.5, 1.5}), kExact) == "");
  CHECK(mismatch(top_left(1, {1, 2, 3, 4}), list({1}), kExact) == "");
  CHECK(mismatch(bottom_right(2, five), list({2.5, 3}), kExact) == "");
  CHECK(mismatch(bottom_right(5, {1, 2}), list({0, 0, 0, 1, 1.5}), kExact) == "");
  CHECK(mismatch(bottom_right(1, {1, 2, 3, 4}), list({2.5}), kExact) == "");
}

TEST_CASE("causal with L = S: the alignments disagree") {
  for (const Causal causal : {Causal::square, Causal::top_left, Causal::bottom_right}) {
    CHECK(mismatch(means(4, {1, 2, 3, 4}, {{}, causal}), list({1, 1.5, 2, 2.5}), kExact) == "");
  }
}

TEST_CASE("a chunk of several tokens is masked as if there were no past, or not at all") {
  const std::vector<std::vector<std::size_t>> cuts = {{2, 2}, {1, 3}, {3, 1}, {1, 1, 1, 1}, {4}};
  const std::vector<float> v = {1, 2, 3, 4};
  const double whole[] = {1, 1.5, 2, 2.5};
  for (const auto& chunks : cuts) {
    std::size_t past = 0;
    for (const std::size_t chunk : chunks) {
      const auto seen = static_cast<std::ptrdiff_t>(past + chunk);
      const Numbers got = means(chunk, {v.begin(), v.begin() + seen}, {{}, Causal::bottom_right});
      const Numbers want{{chunk}, {whole + past, whole + past + chunk}};
      CHECK(mismatch(got, want, kExact) == "");
      past += chunk;
    }
  }
}

TEST_CASE("left padding and causal: a row without a key becomes NaN or the mean") {
  const Mask padded = keep({3}, {0, 1, 1});
  CHECK(mismatch(means(3, {1, 3, 5}, {{padded}, Causal::square}), list({0, 3, 4}), kExact) == "");
}

TEST_CASE("causal and padding: one of the two is lost, or the trace changes the result") {
  const Mask no_first_key = keep({1, 1, 1, 2}, {0, 1});
  struct Combination {
    bool causal, padded;
    Numbers want;
  };
  const std::vector<Combination> combinations = {{false, false, list({2, 2})},
                                                 {true, false, list({1, 2})},
                                                 {false, true, list({3, 3})},
                                                 {true, true, list({0, 3})}};
  for (const auto& [causal, padded, want] : combinations) {
    for (const bool traced : {false, true}) {
      CAPTURE(causal, padded, traced);
      const auto options = with(padded ? std::vector<Mask>{no_first_key} : std::vector<Mask>{},
                                causal ? Causal::square : Causal::none);
      Trace trace;
      const auto result = attention(zero_tokens(2), zero_tokens(2), tokens({1, 3}), options,
                                    traced ? &trace : nullptr);
      CHECK(mismatch(reshaped(numbers(result.output), {2}), want, kExact) == "");
    }
  }
}

TEST_CASE("causal and an explicit mask: the mask is ignored, or replaces causality") {
  const Mask mask = keep({2, 2}, {1, 1, 0, 1});
  CHECK(mismatch(means(2, {1, 3}, {{mask}, Causal::square}), list({1, 3}), kExact) == "");
  CHECK(mismatch(means(2, {1, 3}, {{mask}}), list({2, 3}), kExact) == "");
  const Mask additive = bias({2, 2}, {0, 0, -kInf, 0});
  CHECK(mismatch(means(2, {1, 3}, {{additive}, Causal::square}), list({1, 3}), kExact) == "");
}

TEST_CASE("of two masks only one applies") {
  const Mask first = keep({3}, {1, 1, 0}), second = keep({3}, {0, 1, 1});
  CHECK(mismatch(means(1, {1, 3, 7}, {{first, second}}), list({3}), kExact) == "");
  CHECK(mismatch(means(1, {1, 3, 7}, {{second, first}}), list({3}), kExact) == "");
  // ln 3 once from each mask: the weights are as 9 to 1
  const Mask log3 = bias({2}, {1.0986123F, 0});
  CHECK(mismatch(weights_of({0, 0}, log3), list({0.75, 0.25}), kSixDecimals) == "");
  CHECK(mismatch(means(1, {1, 0}, {{log3, log3}}), list({0.9}), kSixDecimals) == "");
  // a boolean beside an additive one
  CHECK(mismatch(means(1, {0, 4, 9}, {{bias({3}, {0, 1.0986123F, 0}), keep({3}, {1, 1, 0})}}),
                 list({3}), kSixDecimals) == "");
}

TEST_CASE("a float key mask is ignored, or treated as boolean") {
  const Mask log3 = bias({2}, {0, 1.0986123F});
  CHECK(mismatch(weights_of({0, 4}, log3), list({0.25, 0.75}), kSixDecimals) == "");
  CHECK(mismatch(means(1, {0, 4}, {{log3}}), list({3}), kSixDecimals) == "");
  const auto by_float =
      attention(zero_tokens(1), zero_tokens(2), tokens({0, 4}), with({bias({2}, {0, -kInf})}));
  const auto by_bool =
      attention(zero_tokens(1), zero_tokens(2), tokens({0, 4}), with({keep({2}, {1, 0})}));
  CHECK(other_bits(by_float.output, by_bool.output) == "");
  CHECK(other_bits(by_float.weights, by_bool.weights) == "");
  CHECK(mismatch(numbers(by_float.output), list({0}), kExact) == "");
}

TEST_CASE("a finite minus infinity lets masked keys win") {
  const auto masked = [](float hidden_key) {
    return numbers(
        attention(tokens({1}), tokens({hidden_key, 0}), tokens({2, 9}), with({keep({2}, {1, 0})}))
            .output);
  };
  CHECK(mismatch(masked(-50000), list({2}), kExact) == "");
  CHECK(mismatch(masked(-3e9F), list({2}), kExact) == "");
  CHECK(mismatch(masked(-1e30F), list({2}), kExact) == "");
  CHECK(mismatch(masked(-kMaxFloat), list({2}), kExact) == "");
}

TEST_CASE("scores below every sentinel: the running maximum starts too high") {
  const auto open = [](float first, float second) {
    return numbers(attention(tokens({1}), tokens({first, second}), tokens({1, 0}), {}).output);
  };
  CHECK(mismatch(open(-200000, -200001), list({0.731059}), kSixDecimals) == "");
  CHECK(mismatch(open(-3e9F, -3e9F), list({0.5}), kExact) == "");
  CHECK(mismatch(open(-1e30F, -1e30F), list({0.5}), kExact) == "");
  CHECK(mismatch(open(-kMaxFloat, -kMaxFloat), list({0.5}), kExact) == "");
  CHECK(mismatch(open(-kMaxFloat, -1e30F), list({0}), kExact) == "");
}

TEST_CASE("a finite bias is taken for -Infinity") {
  // every key at -1e9: the scores, far smaller, are swallowed, and the weights equal
  const Tensor4 q = tokens({1}), k = tokens({0.25F, 0.5F}), v = tokens({1, 3});
  CHECK(mismatch(numbers(attention(q, k, v, with({bias({2}, {-1e9F, -1e9F})})).output), list({2}),
                 kExact) == "");
  // one key 2 below the other
  CHECK(mismatch(means(1, {1, 0}, {{bias({2}, {-1e4F, -1e4F - 2})}}), list({0.880797}),
                 kSixDecimals) == "");
}

TEST_CASE("two masks at the lowest float add up to -Infinity") {
  const Mask lowest = bias({2}, {-kMaxFloat, -kMaxFloat});
  CHECK(mismatch(means(1, {1, 3}, {{lowest}}), list({2}), kExact) == "");
  CHECK(mismatch(means(1, {1, 3}, {{lowest, lowest}}), list({2}), kExact) == "");
  const Numbers low_scores = numbers(
      attention(tokens({1}), tokens({-1e38F, -1e38F}), tokens({1, 3}), with({lowest})).output);
  CHECK(mismatch(low_scores, list({2}), kExact) == "");
  // and beside a real -Infinity it stays the weaker one
  CHECK(mismatch(means(1, {1, 3}, {{lowest, bias({2}, {0, -kInf})}}), list({1}), kExact) == "");
}

TEST_CASE("a mask's shape is accepted by accident") {
  const auto refused = [](const Mask& mask, const std::string& shape) {
    return refusal(ErrorCode::MASK_SHAPE, {"mask " + shape, "[B, H, L, S] = [1, 2, 2, 3]"}, [&] {
      const Tensor4 two_heads = xt::zeros<float>({1, 2, 2, 1});
      const Tensor4 three_keys = xt::zeros<float>({1, 2, 3, 1});
      attention(two_heads, three_keys, three_keys, with({mask}));
    });
  };
  // 6 and 12 elements as the scores of one and of both heads have, 5 as nothing has
  CHECK(refused(keep({6}, std::vector<std::uint8_t>(6, 1)), "[6]") == "");
  CHECK(refused(keep({5}, std::vector<std::uint8_t>(5, 1)), "[5]") == "");
  CHECK(refused(keep({12}, std::vector<std::uint8_t>(12, 1)), "[12]") == "");
  CHECK(refused(keep({3, 2}, std::vector<std::uint8_t>(6, 1)), "[3, 2]") == "");
  CHECK(refused(keep({2}, {1, 1}), "[2]") == "");
  CHECK(refused(keep({0}, {}), "[0]") == "");
  CHECK(refused(keep({2, 1, 1, 3}, std::vector<std::uint8_t>(6, 1)), "[2, 1, 1, 3]") == "");
  CHECK(refused(bias({2, 2, 3, 1}, std::vector<float>(12, 0)), "[2, 2, 3, 1]") == "");
  CHECK(refused(keep({1, 1, 2, 2, 3}, std::vector<std::uint8_t>(12, 1)), "[1, 1, 2, 2, 3]") == "");
  CHECK(refused(bias({1, 1, 1, 2, 3}, std::vector<float>(6, 0)), "[1, 1, 1, 2, 3]") == "");
}

TEST_CASE("a padding mask [B, S] is read as [L, S] because the sizes agree, or the other way") {
  // B = L = S = 2: the same four elements, named by their shape
  const std::vector<std::uint8_t> data = {1, 0, 1, 1};
  const Tensor4 zeros = xt::zeros<float>({2, 1, 2, 1});
  const Tensor4 v = tensor4({2, 1, 2, 1}, {1, 3, 5, 9});
  const auto output = [&](const Mask& mask) {
    return numbers(attention(zeros, zeros, v, with({mask})).output);
  };
  CHECK(mismatch(output(keep({2, 2}, data)), reshaped(list({1, 2, 5, 7}), {2, 1, 2, 1}), kExact) ==
        "");
  CHECK(mismatch(output(keep({2, 1, 1, 2}, data)), reshaped(list({1, 1, 7, 7}), {2, 1, 2, 1}),
                 kExact) == "");
}

TEST_CASE("a broadcast mask and its expansion give other bits") {
  RandomInput random(11);
  const Tensor4 q = random.tensor4({2, 3, 4, 6}), k = random.tensor4({2, 3, 5, 6});
  const Tensor4 v = random.tensor4({2, 3, 5, 2});
  for (const Shape& shape : kBroadcastable) {
    CAPTURE(shape);
    const NdArray additive = random.bias(shape, 0.7);
    const NdBool boolean = random.keep(shape, 0.7);
    NdArray whole_additive = xt::zeros<float>(Shape{2, 3, 4, 5});
    NdBool whole_boolean = xt::zeros<std::uint8_t>(Shape{2, 3, 4, 5});
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t h = 0; h < 3; ++h) {
        for (std::size_t i = 0; i < 4; ++i) {
          for (std::size_t j = 0; j < 5; ++j) {
            whole_additive(b, h, i, j) =
                static_cast<float>(oracle::broadcast_at(numbers(additive), b, h, i, j));
            whole_boolean(b, h, i, j) =
                oracle::broadcast_at(numbers(boolean), b, h, i, j) != 0 ? 1 : 0;
          }
        }
      }
    }
    CHECK(other_bits(attention(q, k, v, with({additive})).output,
                     attention(q, k, v, with({whole_additive})).output) == "");
    CHECK(other_bits(attention(q, k, v, with({boolean})).weights,
                     attention(q, k, v, with({whole_boolean})).weights) == "");
  }
}

// ---- MaskRule -------------------------------------------------------------------------------

TEST_CASE("mask rule: a broadcast axis is read with a wrong stride") {
  RandomInput random(12);
  for (const Shape& shape : kBroadcastable) {
    CAPTURE(shape);
    const NdArray additive = random.bias(shape, 0.7);
    const MaskRule rule({additive}, Causal::none, kScores);
    std::size_t wrong = 0;
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t h = 0; h < 3; ++h) {
        for (std::size_t i = 0; i < 4; ++i) {
          for (std::size_t j = 0; j < 5; ++j) {
            const double want = oracle::broadcast_at(numbers(additive), b, h, i, j);
            wrong += static_cast<double>(rule.bias(b, h, i, j)) == want ? 0U : 1U;
            wrong += rule.hides(b, h, i, j) == std::isinf(want) ? 0U : 1U;
          }
        }
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("mask rule: what stands at a hidden place comes through") {
  for (const float garbage : {kNaN, kInf, -kInf, kMaxFloat, -0.0F}) {
    Tensor4 scores = tensor4({1, 1, 1, 3}, {garbage, 2, garbage});
    apply_mask(scores, MaskRule({keep({3}, {0, 1, 0})}, Causal::none, {1, 1, 1, 3}));
    CHECK(mismatch(numbers(scores), list({-INFINITY, 2, -INFINITY}), kExact) == "");
  }
}

TEST_CASE("mask rule: a sum leaves the range of float32") {
  Tensor4 scores = tensor4({1, 1, 1, 3}, {kMaxFloat, -kMaxFloat, 1});
  apply_mask(scores, MaskRule({bias({3}, {1e38F, -1e38F, 0.5F})}, Causal::none, {1, 1, 1, 3}));
  CHECK(mismatch(numbers(scores), list({kMaxFloat, -kMaxFloat, 1.5}), kExact) == "");
}

TEST_CASE("mask rule: the free keys at the end are hidden by masks or causality") {
  const MaskRule rule({keep({3}, {1, 0, 0})}, Causal::square, {1, 1, 3, 5}, 2);
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK_FALSE(rule.hides(0, 0, i, 0));
    CHECK(rule.hides(0, 0, i, 1));
    CHECK(rule.hides(0, 0, i, 2));
    CHECK_FALSE(rule.hides(0, 0, i, 3));
    CHECK_FALSE(rule.hides(0, 0, i, 4));
  }
  AttentionOptions options = with({keep({2}, {0, 0})}, Causal::top_left);
  options.free_keys = 1;
  const auto result = attention(zero_tokens(2), zero_tokens(3), tokens({1, 3, 8}), options);
  CHECK(mismatch(reshaped(numbers(result.output), {2}), list({8, 8}), kExact) == "");
  // bottom right: the diagonal ends at the last key that is not free
  options.masks.clear();
  options.causal = Causal::bottom_right;
  const auto shifted = attention(zero_tokens(1), zero_tokens(3), tokens({1, 3, 8}), options);
  CHECK(mismatch(numbers(shifted.output), list({4}), kExact) == "");
}

// ---- building masks -------------------------------------------------------------------------

TEST_CASE("causal mask: the diagonal lies one off, or in the wrong corner") {
  const auto mask = [](std::size_t queries, std::size_t keys, Causal causal) {
    return numbers(causal_mask(queries, keys, causal));
  };
  const Numbers square = reshaped(list({1, 0, 0, 1, 1, 0, 1, 1, 1}), {3, 3});
  CHECK(mismatch(mask(3, 3, Causal::square), square, kExact) == "");
  CHECK(mismatch(mask(3, 3, Causal::top_left), square, kExact) == "");
  CHECK(mismatch(mask(3, 3, Causal::bottom_right), square, kExact) == "");
  CHECK(mismatch(mask(2, 4, Causal::top_left), reshaped(list({1, 0, 0, 0, 1, 1, 0, 0}), {2, 4}),
                 kExact) == "");
  CHECK(mismatch(mask(2, 4, Causal::bottom_right), reshaped(list({1, 1, 1, 0, 1, 1, 1, 1}), {2, 4}),
                 kExact) == "");
  CHECK(mismatch(mask(4, 2, Causal::top_left), reshaped(list({1, 0, 1, 1, 1, 1, 1, 1}), {4, 2}),
                 kExact) == "");
  CHECK(mismatch(mask(4, 2, Causal::bottom_right), reshaped(list({0, 0, 0, 0, 1, 0, 1, 1}), {4, 2}),
                 kExact) == "");
  CHECK(mismatch(mask(2, 2, Causal::none), reshaped(list({1, 1, 1, 1}), {2, 2}), kExact) == "");
  CHECK(causal_mask(0, 3, Causal::bottom_right).size() == 0);
  CHECK(causal_mask(3, 0, Causal::bottom_right).size() == 0);
}

TEST_CASE("causal mask: the option and the painted mask disagree") {
  RandomInput random(13);
  for (const auto& [queries, keys] :
       std::vector<std::pair<std::size_t, std::size_t>>{{5, 5}, {1, 6}, {3, 7}, {7, 3}, {6, 1}}) {
    const Tensor4 q = random.tensor4({2, 2, queries, 3}), k = random.tensor4({2, 2, keys, 3});
    for (const Causal causal : {Causal::top_left, Causal::bottom_right}) {
      const Mask painted = causal_mask(queries, keys, causal);
      CHECK(other_bits(attention(q, k, k, with({}, causal)).output,
                       attention(q, k, k, with({painted})).output) == "");
    }
  }
}

TEST_CASE("padding mask: the wrong side, or the wrong length") {
  const auto mask = [](PaddingSide side) { return padding_mask({2, 0, 3}, 3, side); };
  const Numbers right = reshaped(list({1, 1, 0, 0, 0, 0, 1, 1, 1}), {3, 1, 1, 3});
  const Numbers left = reshaped(list({0, 1, 1, 0, 0, 0, 1, 1, 1}), {3, 1, 1, 3});
  CHECK(mismatch(numbers(mask(PaddingSide::right)), right, kExact) == "");
  CHECK(mismatch(numbers(mask(PaddingSide::left)), left, kExact) == "");
  CHECK(shape_of(mask(PaddingSide::left)) == Shape{3, 1, 1, 3});
  CHECK(shape_of(padding_mask({}, 3, PaddingSide::right)) == Shape{0, 1, 1, 3});
  CHECK(shape_of(padding_mask({0}, 0, PaddingSide::left)) == Shape{1, 1, 1, 0});
}

TEST_CASE("combined masks: logical OR instead of AND, or a lost bias") {
  const auto combined = [](const std::vector<Mask>& masks) { return combine_masks(masks); };
  const Mask both = combined({keep({3}, {1, 1, 0}), keep({3}, {0, 1, 1})});
  REQUIRE(std::holds_alternative<NdBool>(both));
  CHECK(mismatch(numbers(std::get<NdBool>(both)), list({0, 1, 0}), kExact) == "");

  const Mask outer = combined({keep({3}, {1, 1, 0}), keep({2, 1}, {1, 0})});
  REQUIRE(std::holds_alternative<NdBool>(outer));
  CHECK(mismatch(numbers(std::get<NdBool>(outer)), reshaped(list({1, 1, 0, 0, 0, 0}), {2, 3}),
                 kExact) == "");

  const Mask sum = combined({bias({3}, {0.5F, -kInf, 1}), bias({3}, {0.25F, 4, -kInf})});
  REQUIRE(std::holds_alternative<NdArray>(sum));
  CHECK(mismatch(numbers(std::get<NdArray>(sum)), list({0.75, -INFINITY, -INFINITY}), kExact) ==
        "");

  const Mask mixed = combined({keep({3}, {1, 0, 7}), bias({3}, {0.5F, 2, 0})});
  REQUIRE(std::holds_alternative<NdArray>(mixed));
  CHECK(mismatch(numbers(std::get<NdArray>(mixed)), list({0.5, -INFINITY, 0}), kExact) == "");

  // all of 0: additive all the same
  CHECK(std::holds_alternative<NdArray>(combined({keep({2}, {1, 1}), bias({2}, {0, 0})})));
  CHECK(mismatch(numbers(std::get<NdBool>(combined({keep({2}, {0, 9})}))), list({0, 1}), kExact) ==
        "");
}

TEST_CASE("combined masks: not what both masks do together") {
  RandomInput random(14);
  const Tensor4 q = random.tensor4({2, 3, 4, 6}), k = random.tensor4({2, 3, 5, 6});
  for (std::size_t n = 0; n + 1 < kBroadcastable.size(); ++n) {
    CAPTURE(n);
    const Mask first = n % 2 == 0 ? Mask(random.keep(kBroadcastable[n], 0.8))
                                  : Mask(random.bias(kBroadcastable[n], 0.8));
    const Mask second = random.keep(kBroadcastable[n + 1], 0.8);
    CHECK(other_bits(attention(q, k, k, with({first, second})).weights,
                     attention(q, k, k, with({combine_masks({first, second})})).weights) == "");
  }
}

TEST_CASE("an additive mask hides where it should not") {
  CHECK(mismatch(numbers(to_additive(keep({2, 2}, {1, 0, 0, 3}))),
                 reshaped(list({0, -INFINITY, -INFINITY, 0}), {2, 2}), kExact) == "");
  const NdArray finite = bias({3}, {-1e9F, 0.5F, -kInf});
  CHECK(other_bits(to_additive(finite), finite) == "");
  CHECK(shape_of(to_additive(keep({}, {1}))).empty());
}

// ---- softmax --------------------------------------------------------------------------------

TEST_CASE("softmax: the largest score of a row") {
  const Tensor4 scores = tensor4({1, 2, 2, 2}, {3, -1, -5, -2, -kInf, -kInf, -kMaxFloat, -1e30F});
  const Tensor3 max = row_max(scores);
  CHECK(shape_of(max) == Shape{1, 2, 2});
  CHECK(mismatch(numbers(max), reshaped(list({3, -2, -INFINITY, -1e30F}), {2, 2}), kExact) == "");
}

TEST_CASE("softmax: overflow, underflow, equal scores") {
  const auto weights = [](const std::vector<float>& row) {
    Tensor4 scores = tensor4({row.size()}, row);
    softmax(scores, nullptr);
    return numbers(scores);
  };
  CHECK(mismatch(weights({1000, 1001, 1002}), list({0.090031, 0.244728, 0.665241}), kSixDecimals) ==
        "");
  CHECK(mismatch(weights({-1e30F, 1e30F}), list({0, 1}), kExact) == "");
  CHECK(mismatch(weights({kMaxFloat, kMaxFloat}), list({0.5, 0.5}), kExact) == "");
  CHECK(mismatch(weights({kMaxFloat, -kMaxFloat}), list({1, 0}), kExact) == "");
  CHECK(mismatch(weights({-kInf, 5}), list({0, 1}), kExact) == "");
  CHECK(mismatch(weights({-kInf, -kInf}), list({0, 0}), kExact) == "");
  CHECK(mismatch(weights({7}), list({1}), kExact) == "");
}

TEST_CASE("softmax: a visible NaN is swallowed, or reaches another row") {
  Tensor4 scores = tensor4({1, 1, 3, 2}, {1, 1, kNaN, 1, 2, 2});
  softmax(scores, nullptr);
  const double nan = static_cast<double>(kNaN);
  CHECK(mismatch(numbers(scores), reshaped(list({0.5, 0.5, nan, nan, 0.5, 0.5}), {3, 2}), kExact) ==
        "");
}

TEST_CASE("beyond float32: a number becomes infinite, or NaN a number") {
  CHECK(within_float_range(1e39) == kMaxFloat);
  CHECK(within_float_range(-1e300) == -kMaxFloat);
  CHECK(within_float_range(INFINITY) == kMaxFloat);
  CHECK(within_float_range(-INFINITY) == -kMaxFloat);
  CHECK(within_float_range(0.1) == 0.1F);
  CHECK(std::isnan(within_float_range(std::nan(""))));
}
