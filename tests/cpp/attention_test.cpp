#include "attention.hpp"

#include <cmath>
#include <xtensor/xview.hpp>

#include "catch.hpp"
#include "mask_array.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

/// The sizes around every usual block and vector width.
const std::vector<std::size_t> kTails = {1,  2,  3,  4,  5,  7,  8,  9,   11,  15,  16, 17,
                                         19, 31, 32, 33, 63, 64, 65, 127, 128, 129, 131};

Numbers output_of(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                  const AttentionOptions& options = {}) {
  return numbers(attention(q, k, v, options).output);
}

/// One query against two keys of head dim 4, v = 1, 0: the weight of the first.
double first_weight(std::optional<float> scale) {
  AttentionOptions options;
  options.scale = scale;
  return output_of(tensor4({1, 4}, {2, 0, 0, 0}), tensor4({2, 4}, {2, 0, 0, 0, 0, 0, 0, 0}),
                   tokens({1, 0}), options)
      .data.at(0);
}

Numbers two_scores(float first, float second) {
  return output_of(tokens({1}), tokens({first, second}), tokens({1, 0}));
}

}  // namespace

TEST_CASE("a row without a key is NaN, or the mean of all values") {
  const Tensor4 q = tensor4({2, 1, 1, 1}, {1, 1});
  const Tensor4 k = tensor4({2, 1, 2, 1}, {1, 2, 1, 2}), v = tensor4({2, 1, 2, 1}, {3, 5, 3, 5});
  const auto open = attention(q, k, v, {});
  for (const Mask& mask :
       {Mask(keep({2, 1, 1, 2}, {0, 0, 1, 1})), Mask(bias({2, 1, 1, 2}, {-kInf, -kInf, 0, 0}))}) {
    const auto result = attention(q, k, v, with({mask}));
    CHECK(result.output(0, 0, 0, 0) == 0);
    CHECK(result.weights(0, 0, 0, 0) == 0);
    CHECK(result.weights(0, 0, 0, 1) == 0);
    CHECK(result.output(1, 0, 0, 0) == open.output(1, 0, 0, 0));
    CHECK(result.weights(1, 0, 0, 1) == open.weights(1, 0, 0, 1));
  }
}

TEST_CASE("a row without a key is a negative zero") {
  const auto result = attention(tokens({-1}), tokens({1}), tokens({-3}), with({keep({1}, {0})}));
  CHECK(other_bits(result.output, tokens({0})) == "");
  CHECK(other_bits(result.weights, tokens({0})) == "");
}

TEST_CASE("NaN, infinities or rubbish at a hidden key reach the output") {
  for (const float rubbish : {kNaN, kInf, -kInf, kMaxFloat}) {
    CAPTURE(rubbish);
    const Tensor4 k = tokens({0, rubbish}), v = tokens({4, rubbish});
    CHECK(mismatch(output_of(tokens({0}), k, v, with({keep({2}, {1, 0})})), list({4}), kExact) ==
          "");
    CHECK(mismatch(output_of(tokens({0}), k, v, with({bias({2}, {0, -kInf})})), list({4}),
                   kExact) == "");
    CHECK(mismatch(output_of(tokens({1}), k, v, with({keep({2}, {1, 0})})), list({4}), kExact) ==
          "");
    // only in future tokens
    const auto causal = attention(zero_tokens(2), k, v, with({}, Causal::square));
    CHECK(causal.output(0, 0, 0, 0) == 4);
    CHECK(causal.weights(0, 0, 0, 1) == 0);
    // unwritten slots: capacity 8, length 3
    const Tensor4 slots_k = tokens({0, 0, 0, rubbish, rubbish, rubbish, rubbish, rubbish});
    const Tensor4 slots_v = tokens({1, 2, 3, rubbish, rubbish, rubbish, rubbish, rubbish});
    const Mask written = padding_mask({3}, 8, PaddingSide::right);
    CHECK(mismatch(output_of(tokens({0}), slots_k, slots_v, with({written})), list({2}), kExact) ==
          "");
  }
}

TEST_CASE("NaN in one query reaches another, or a row that sees no key") {
  const Tensor4 q = tokens({0, kNaN, 0}), k = tokens({1, 2, 3}), v = tokens({1, 3, 8});
  const Numbers visible = reshaped(output_of(q, k, v), {3});
  CHECK(mismatch(visible, list({4, std::nan(""), 4}), kExact) == "");
  const auto dead = with({keep({3, 1}, {1, 0, 1})});
  CHECK(mismatch(reshaped(output_of(q, k, v, dead), {3}), list({4, 0, 4}), kExact) == "");
}

TEST_CASE("tail: sizes around a block count padding keys") {
  for (const std::size_t keys : kTails) {
    CAPTURE(keys);
    CHECK(
        mismatch(output_of(zero_tokens(1), zero_tokens(keys), tokens(std::vector<float>(keys, 1))),
                 list({1}), kSixDecimals) == "");
    std::vector<float> counting(keys);
    for (std::size_t j = 0; j < keys; ++j) {
      counting[j] = static_cast<float>(j + 1) / static_cast<float>(keys);
    }
    const double mean = (static_cast<double>(keys) + 1) / (2 * static_cast<double>(keys));
    CHECK(mismatch(output_of(zero_tokens(1), zero_tokens(keys), tokens(counting)), list({mean}),
                   kSixDecimals) == "");
  }
}

TEST_CASE("tail: head dims and numbers of queries around a vector") {
  RandomInput random(21);
  for (const std::size_t dim : Shape{1, 3, 5, 8, 17}) {
    for (const std::size_t length : Shape{1, 3, 4, 5, 11, 33}) {
      CAPTURE(dim, length);
      const Tensor4 zeros = xt::zeros<float>({std::size_t{1}, std::size_t{1}, length, dim});
      const Tensor4 ones = xt::ones<float>({std::size_t{1}, std::size_t{1}, length, dim});
      CHECK(mismatch(output_of(zeros, zeros, ones), numbers(ones), kSixDecimals) == "");
      const Tensor4 q = random.tensor4({1, 1, length, dim}),
                    k = random.tensor4({1, 1, length, dim});
      CHECK(mismatch(output_of(q, k, q),
                     oracle::attention(numbers(q), numbers(k), numbers(q)).output,
                     kContract) == "");
    }
  }
}

TEST_CASE("grouped queries: repeated in turn instead of one after another") {
  const auto heads = [](std::size_t query_heads, const std::vector<float>& v) {
    const Tensor4 q =
        xt::zeros<float>({std::size_t{1}, query_heads, std::size_t{1}, std::size_t{1}});
    const Tensor4 k = xt::zeros<float>({std::size_t{1}, v.size(), std::size_t{1}, std::size_t{1}});
    return reshaped(output_of(q, k, tensor4({1, v.size(), 1, 1}, v)), {query_heads});
  };
  CHECK(mismatch(heads(4, {10, 20}), list({10, 10, 20, 20}), kExact) == "");
  CHECK(mismatch(heads(4, {10}), list({10, 10, 10, 10}), kExact) == "");
  CHECK(mismatch(heads(6, {10, 20, 30}), list({10, 10, 20, 20, 30, 30}), kExact) == "");
  CHECK(mismatch(heads(3, {10, 20, 30}), list({10, 20, 30}), kExact) == "");
}

TEST_CASE("grouped queries: the keys come from another head than the values") {
  // head 0 of the keys prefers key 0, head 1 key 1; v tells which was taken
  const Tensor4 q = tensor4({1, 4, 1, 1}, {100, 100, 100, 100});
  const Tensor4 k = tensor4({1, 2, 2, 1}, {100, -100, -100, 100});
  const Tensor4 v = tensor4({1, 2, 2, 1}, {1, 2, 3, 4});
  CHECK(mismatch(reshaped(output_of(q, k, v), {4}), list({1, 1, 4, 4}), kExact) == "");
}

TEST_CASE("grouped queries: not the same as repeated keys and values") {
  RandomInput random(22);
  const Tensor4 q = random.tensor4({2, 6, 3, 4});
  const Tensor4 k = random.tensor4({2, 2, 5, 4}), v = random.tensor4({2, 2, 5, 3});
  const Mask mask = random.keep({2, 6, 3, 5}, 0.7);
  Tensor4 k_repeated = Tensor4::from_shape({2, 6, 5, 4});
  Tensor4 v_repeated = Tensor4::from_shape({2, 6, 5, 3});
  for (std::size_t h = 0; h < 6; ++h) {
    xt::view(k_repeated, xt::all(), h) = xt::view(k, xt::all(), h < 3 ? 0 : 1);
    xt::view(v_repeated, xt::all(), h) = xt::view(v, xt::all(), h < 3 ? 0 : 1);
  }
  const auto grouped = attention(q, k, v, with({mask}));
  const auto repeated = attention(q, k_repeated, v_repeated, with({mask}));
  CHECK(other_bits(grouped.output, repeated.output) == "");
  CHECK(other_bits(grouped.weights, repeated.weights) == "");
}

TEST_CASE("scale: missing, applied twice, or of another dimension") {
  const auto near = [](double got, double want) {
    return mismatch(list({got}), list({want}), kSixDecimals);
  };
  CHECK(near(first_weight(std::nullopt), 0.880797) == "");  // 4 / sqrt(4)
  CHECK(near(first_weight(1.0F), 0.982014) == "");          // replaces, does not multiply
  CHECK(near(first_weight(0.5F), 0.880797) == "");
  CHECK(near(first_weight(0.25F), 0.731059) == "");
  CHECK(near(first_weight(-0.5F), 0.119203) == "");
  CHECK(first_weight(0.0F) == 0.5);
}

TEST_CASE("scale: grouped queries or the width of the values change it") {
  const Tensor4 q = tensor4({1, 2, 1, 4}, {2, 0, 0, 0, 2, 0, 0, 0});
  const Tensor4 k = tensor4({1, 1, 2, 4}, {2, 0, 0, 0, 0, 0, 0, 0});
  const Tensor4 v = tensor4({1, 1, 2, 3}, {1, 1, 1, 0, 0, 0});
  CHECK(mismatch(
            output_of(q, k, v),
            reshaped(list({0.880797, 0.880797, 0.880797, 0.880797, 0.880797, 0.880797}), {2, 1, 3}),
            kSixDecimals) == "");
}

TEST_CASE("softmax overflows with large scores") {
  CHECK(mismatch(two_scores(100, 99), list({0.731059}), kSixDecimals) == "");
  CHECK(mismatch(two_scores(1000, 999), list({0.731059}), kSixDecimals) == "");
  CHECK(mismatch(two_scores(-1000, -1001), list({0.731059}), kSixDecimals) == "");
  CHECK(mismatch(two_scores(0, 1000), list({0}), kExact) == "");
  CHECK(mismatch(two_scores(1000, 0), list({1}), kExact) == "");
}

TEST_CASE("a product beyond float32 becomes NaN") {
  // 1e60: every overflow counts as the largest float, so equal ones stay equal
  const auto output = [](float q, float first, float second) {
    return output_of(tokens({q}), tokens({first, second}), tokens({1, 0}));
  };
  CHECK(mismatch(output(1e30F, 1e30F, 1e30F), list({0.5}), kExact) == "");
  CHECK(mismatch(output(1e30F, -1e30F, -1e30F), list({0.5}), kExact) == "");
  CHECK(mismatch(output(1e30F, 1e30F, 0), list({1}), kExact) == "");
  CHECK(mismatch(output(1e30F, -1e30F, 0), list({0}), kExact) == "");
  CHECK(mismatch(output(1, kInf, 0), list({1}), kExact) == "");
  CHECK(mismatch(output(1, kInf, kInf), list({0.5}), kExact) == "");
  AttentionOptions options;
  options.scale = 1e30F;
  CHECK(mismatch(output_of(tokens({1}), tokens({1e30F, 1e30F}), tokens({1, 0}), options),
                 list({0.5}), kExact) == "");
}

TEST_CASE("empty dimensions: a crash, NaN, or a wrong shape") {
  const auto run = [](std::size_t batch, std::size_t queries, std::size_t keys, Causal causal) {
    const Tensor4 q = xt::ones<float>({batch, std::size_t{4}, queries, std::size_t{3}});
    const Tensor4 k = xt::ones<float>({batch, std::size_t{2}, keys, std::size_t{3}});
    const Tensor4 v = xt::ones<float>({batch, std::size_t{2}, keys, std::size_t{5}});
    Trace trace;
    const auto traced = attention(q, k, v, with({}, causal), &trace);
    const auto plain = attention(q, k, v, with({}, causal));
    CHECK(trace.steps().size() == 8);
    CHECK(other_bits(traced.output, plain.output) == "");
    CHECK(shape_of(plain.weights) == Shape{batch, 4, queries, keys});
    CHECK(shape_of(plain.output) == Shape{batch, 4, queries, 5});
    return plain.output;
  };
  for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right}) {
    CHECK(run(2, 0, 3, causal).size() == 0);
    CHECK(run(0, 2, 3, causal).size() == 0);
    CHECK(run(0, 0, 0, causal).size() == 0);
    CHECK(run(2, 0, 0, causal).size() == 0);
    const Tensor4 no_keys = run(2, 3, 0, causal);
    CHECK(other_bits(no_keys, Tensor4(xt::zeros<float>({2, 4, 3, 5}))) == "");
  }
  CHECK(run(2, 0, 0, Causal::square).size() == 0);
}

TEST_CASE("empty dimensions: a mask of the same emptiness is refused") {
  const Tensor4 q = xt::ones<float>({1, 1, 2, 1}), none = xt::ones<float>({1, 1, 0, 1});
  for (const Shape& shape : {Shape{0}, Shape{2, 0}, Shape{2, 1}, Shape{1, 1, 1, 0}}) {
    CAPTURE(shape);
    const Mask boolean = NdBool(xt::zeros<std::uint8_t>(shape));
    const Mask additive = NdArray(xt::zeros<float>(shape));
    CHECK(mismatch(reshaped(output_of(q, none, none, with({boolean})), {2}), list({0, 0}),
                   kExact) == "");
    CHECK(mismatch(reshaped(output_of(q, none, none, with({additive})), {2}), list({0, 0}),
                   kExact) == "");
  }
}

TEST_CASE("values of another width than the keys") {
  CHECK(mismatch(output_of(tokens({0}), zero_tokens(2), tensor4({2, 3}, {1, 2, 3, 3, 4, 5})),
                 list({2, 3, 4}), kExact) == "");
}

TEST_CASE("samples of a batch attend to each other") {
  // the wrong answer, 4.928055 and 5, comes from attention over the batch axis
  const Tensor4 x = tensor4({2, 1, 1, 1}, {1, 5});
  CHECK(mismatch(reshaped(output_of(x, x, x), {2}), list({1, 5}), kExact) == "");
}

TEST_CASE("a large head dim or a long row overflows the stack") {
  RandomInput random(23);
  const Tensor4 q = random.tensor4({1, 1, 2, 512}), k = random.tensor4({1, 1, 700, 512});
  CHECK(mismatch(output_of(q, k, k), oracle::attention(numbers(q), numbers(k), numbers(k)).output,
                 kContract) == "");
}

TEST_CASE("the result shares memory with an input, or with the next result") {
  RandomInput random(24);
  Tensor4 x = random.tensor4({1, 2, 3, 4});
  const Tensor4 before = x;
  const auto first = attention(x, x, x, {});
  CHECK(other_bits(x, before) == "");
  CHECK(first.output.data() != x.data());
  const auto copy = first;
  const Tensor4 other = random.tensor4({1, 2, 3, 4});
  const auto second = attention(other, other, other, {});
  CHECK(other_bits(first.output, copy.output) == "");
  CHECK(other_bits(first.weights, copy.weights) == "");
  CHECK(second.output.data() != first.output.data());
  x = attention(x, x, x, {}).output;  // into the input itself
  CHECK(other_bits(x, first.output) == "");
}

TEST_CASE("xtensor: views, slices and transposes are read in the order of their memory") {
  RandomInput random(25);
  const Tensor4 wide = random.tensor4({2, 5, 3, 8});  // [B, n, H, 2 E], to be sliced and turned
  const auto picked = xt::view(wide, xt::all(), xt::range(1, 5), xt::all(), xt::range(2, 6));
  const Tensor4 turned = xt::transpose(picked, {0, 2, 1, 3});  // [B, H, n, E]
  Tensor4 by_hand = Tensor4::from_shape({2, 3, 4, 4});
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t h = 0; h < 3; ++h) {
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t e = 0; e < 4; ++e) {
          by_hand(b, h, i, e) = wide(b, i + 1, h, e + 2);
        }
      }
    }
  }
  REQUIRE(other_bits(turned, by_hand) == "");
  const auto result = attention(xt::transpose(picked, {0, 2, 1, 3}), turned, turned, {});
  CHECK(other_bits(result.output, attention(by_hand, by_hand, by_hand, {}).output) == "");

  Tensor2 square = tensor2({2, 2}, {1, 2, 3, 4});
  square = xt::transpose(square);  // assigned to itself
  CHECK(mismatch(numbers(square), reshaped(list({1, 3, 2, 4}), {2, 2}), kExact) == "");
}

TEST_CASE("xtensor: a lazy expression dangles") {
  // softmax rewrites its argument from expressions over itself; any view that outlives its
  // temporary shows against the loops of the oracle, or to the address sanitizer
  RandomInput random(26);
  for (int turn = 0; turn < 10; ++turn) {
    const Tensor4 q = random.tensor4({2, 2, 6, 3}), k = random.tensor4({2, 2, 7, 3});
    const Tensor4 v = random.tensor4({2, 2, 7, 2});
    Trace trace;
    const auto result = attention(q, k, v, {}, &trace);
    const auto want = oracle::attention(numbers(q), numbers(k), numbers(v));
    CHECK(mismatch(numbers(result.output), want.output, kContract) == "");
    CHECK(mismatch(numbers(result.weights), want.weights, kContract) == "");
    CHECK(mismatch(numbers(trace.steps().at(5).tensor), want.row_sum, {1e-5, 1e-6}) == "");
  }
}

TEST_CASE("fast-math removes the guards for NaN and -Infinity") {
#ifdef __FAST_MATH__
  FAIL("compiled with -ffast-math");
#endif
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0
  FAIL("compiled with -ffinite-math-only");
#endif
  volatile float nan = kNaN;
  volatile float infinity = kInf;
  CHECK(std::isnan(static_cast<float>(nan)));
  CHECK_FALSE(nan == nan);
  CHECK(std::exp(-infinity) == 0.0F);
  CHECK(std::exp(-static_cast<double>(infinity)) == 0.0);
  CHECK(std::isnan(infinity - infinity));
  volatile float zero = 0;
  CHECK(std::signbit(-zero));
}

TEST_CASE("dot products: another operand order or layout") {
  const Tensor4 q = tensor4({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor4 k = tensor4({1, 1, 3, 3}, {1, 0, 0, 0, 10, 0, 1, 1, 1});
  const Tensor4 dots = dot_products(q, k);
  CHECK(shape_of(dots) == Shape{1, 1, 2, 3});
  CHECK(mismatch(numbers(dots), reshaped(list({1, 20, 6, 4, 50, 15}), {2, 3}), kExact) == "");
}

TEST_CASE("weighted sum: weights at hidden places count") {
  const Tensor4 weights = tensor4({1, 1, 2, 2}, {0.25F, 0.75F, 0.5F, 0.5F});
  const Tensor4 v = tensor4({1, 1, 2, 2}, {4, 8, 2, 6});
  const ScoreShape shape = {1, 1, 2, 2};
  CHECK(mismatch(numbers(weighted_sum(weights, v, MaskRule({}, Causal::none, shape))),
                 reshaped(list({2.5, 6.5, 3, 7}), {2, 2}), kExact) == "");
  CHECK(mismatch(numbers(weighted_sum(weights, v, MaskRule({}, Causal::square, shape))),
                 reshaped(list({1, 2, 3, 7}), {2, 2}), kExact) == "");
}
