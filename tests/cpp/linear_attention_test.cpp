#include "linear_attention.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "heads.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

double phi(double x) { return x > 0 ? x + 1 : std::exp(x); }

/// Pair by pair, as an attention with the weights phi(q_i) . phi(k_j): the sums the other way
/// round.
Numbers looked_up(const Tensor4& q, const Tensor4& k, const Tensor4& v, bool causal, double eps,
                  const std::function<bool(std::size_t b, std::size_t j)>& visible) {
  const std::size_t group = q.shape(1) / k.shape(1);
  Numbers output{{q.shape(0), q.shape(1), q.shape(2), v.shape(3)}, {}};
  for (std::size_t b = 0; b < q.shape(0); ++b) {
    for (std::size_t h = 0; h < q.shape(1); ++h) {
      for (std::size_t i = 0; i < q.shape(2); ++i) {
        std::vector<double> sum(v.shape(3));
        double total = eps;
        for (std::size_t j = 0; j < (causal ? i + 1 : k.shape(2)); ++j) {
          if (!visible(b, j)) {
            continue;
          }
          double weight = 0;
          for (std::size_t e = 0; e < q.shape(3); ++e) {
            weight += phi(static_cast<double>(q(b, h, i, e))) *
                      phi(static_cast<double>(k(b, h / group, j, e)));
          }
          total += weight;
          for (std::size_t c = 0; c < sum.size(); ++c) {
            sum[c] += weight * static_cast<double>(v(b, h / group, j, c));
          }
        }
        for (const double value : sum) {
          output.data.push_back(total == 0 ? 0 : value / total);
        }
      }
    }
  }
  return output;
}

Numbers row(std::initializer_list<double> values) { return {{1, 1, values.size(), 1}, values}; }

Tensor4 run(const Tensor4& q, const Tensor4& k, const Tensor4& v, bool causal = false,
            const std::optional<NdBool>& key_mask = std::nullopt, double eps = 0) {
  return linear_attention(q, k, v, causal, key_mask, eps);
}

}  // namespace

TEST_CASE("linear attention by hand") {
  // phi(0) = 1: the mean of what is seen. phi(1) = 2, phi(-1) = 1/e.
  const Tensor4 zeros = zero_tokens(4), v = tokens({1, 2, 3, 4});
  CHECK(mismatch(numbers(run(zeros, zeros, v)), row({2.5, 2.5, 2.5, 2.5}), kExact) == "");
  CHECK(mismatch(numbers(run(zeros, zeros, v, true)), row({1, 1.5, 2, 2.5}), kExact) == "");
  CHECK(mismatch(numbers(run(tokens({5}), tokens({1, -1}), tokens({1, 0}))), row({0.844638}),
                 kSixDecimals) == "");
  CHECK(mismatch(numbers(run(tokens({0}), tokens({0, 0}), tokens({1, 3}), false, std::nullopt, 2)),
                 row({1}), kExact) == "");  // 4 / (2 + eps)
}

TEST_CASE("linear attention against the sum over pairs") {
  RandomInput random(51);
  for (int round = 0; round < 80; ++round) {
    const std::size_t batch = random.between(1, 3), kv_heads = random.between(1, 3);
    const std::size_t heads = kv_heads * random.between(1, 3);
    const std::size_t queries = random.between(1, 9), e = random.between(1, 6);
    const bool causal = random.chance(0.5);
    const std::size_t keys = causal ? queries : random.between(1, 9);
    const Tensor4 q = random.tensor4({batch, heads, queries, e});
    const Tensor4 k = random.tensor4({batch, kv_heads, keys, e});
    const Tensor4 v = random.tensor4({batch, kv_heads, keys, random.between(1, 5)});
    const NdBool mask = random.keep({batch, keys}, 0.7);
    const double eps = random.chance(0.5) ? 0 : 0.5;
    INFO("round " << round);
    CHECK(mismatch(numbers(run(q, k, v, causal, mask, eps)),
                   looked_up(q, k, v, causal, eps,
                             [&](std::size_t b, std::size_t j) { return mask(b, j) != 0; }),
                   kContract) == "");
    CHECK(mismatch(numbers(run(q, k, v, causal)),
                   looked_up(q, k, v, causal, 0, [](std::size_t, std::size_t) { return true; }),
                   kContract) == "");
  }
}

TEST_CASE("linear attention sees the future") {
  RandomInput random(52);
  const Tensor4 q = random.tensor4({2, 4, 7, 3}), k = random.tensor4({2, 2, 7, 3});
  const Tensor4 v = random.tensor4({2, 2, 7, 5});
  const Tensor4 before = run(q, k, v, true);
  for (const float rubbish : {kNaN, kInf, 1e30F, -3.0F}) {
    for (std::size_t cut = 1; cut < 7; ++cut) {
      Tensor4 q2 = q, k2 = k, v2 = v;
      for (Tensor4* x : {&q2, &k2, &v2}) {
        for (std::size_t row = 0; row < x->size() / x->shape(3); ++row) {
          if (row % 7 >= cut) {
            std::fill_n(x->data() + row * x->shape(3), x->shape(3), rubbish);
          }
        }
      }
      const Tensor4 after = run(q2, k2, v2, true);
      for (std::size_t head = 0; head < 8; ++head) {
        CHECK(other_bits(after.data() + head * 35, before.data() + head * 35, cut * 5) == "");
      }
    }
  }
}

TEST_CASE("a longer sequence changes the bits of its beginning") {
  RandomInput random(53);
  const Tensor4 q = random.tensor4({1, 1, 9, 4}), k = random.tensor4({1, 1, 9, 4});
  const Tensor4 v = random.tensor4({1, 1, 9, 2});
  const Tensor4 whole = run(q, k, v, true);
  for (std::size_t length = 1; length < 9; ++length) {
    const auto first = [length](const Tensor4& x) {
      Tensor4 part = Tensor4::from_shape({1, 1, length, x.shape(3)});
      std::copy_n(x.data(), part.size(), part.data());
      return part;
    };
    const Tensor4 part = run(first(q), first(k), first(v), true);
    CHECK(other_bits(part.data(), whole.data(), part.size()) == "");
  }
}

TEST_CASE("what a masked key or value holds reaches the output of linear attention") {
  for (const float rubbish : {kNaN, kInf, -kInf}) {
    const Tensor4 k = tokens({0, rubbish, 0}), v = tokens({4, rubbish, 6});
    const NdBool mask = keep({1, 3}, {1, 0, 1});
    CHECK(mismatch(numbers(run(zero_tokens(3), k, v, false, mask)), row({5, 5, 5}), kExact) == "");
    CHECK(mismatch(numbers(run(zero_tokens(3), k, v, true, mask)), row({4, 4, 5}), kExact) == "");
  }
}

TEST_CASE("a divisor of 0 gives NaN") {
  const Tensor4 zeros = zero_tokens(2), v = tokens({3, 5});
  CHECK(mismatch(numbers(run(zeros, zeros, v, false, keep({1, 2}, {0, 0}))), row({0, 0}), kExact) ==
        "");
  CHECK(mismatch(numbers(run(zeros, zeros, v, true, keep({1, 2}, {0, 1}))), row({0, 5}), kExact) ==
        "");
  // exp(-1000) is 0 in double as well
  CHECK(mismatch(numbers(run(zeros, tokens({-1000, -1000}), v)), row({0, 0}), kExact) == "");
  CHECK(mismatch(numbers(run(zeros, zeros, v, false, keep({1, 2}, {0, 0}), 1e-6)), row({0, 0}),
                 kExact) == "");
}

TEST_CASE("large features overflow") {
  const Tensor4 large = tokens({1e30F, 1e30F});
  CHECK(mismatch(numbers(run(large, large, tokens({1, 3}))), row({2, 2}), {1e-6, 0}) == "");
  CHECK(mismatch(numbers(run(large, large, tokens({kMaxFloat, kMaxFloat}))),
                 row({static_cast<double>(kMaxFloat), static_cast<double>(kMaxFloat)}),
                 {0, 1e-6}) == "");
}

TEST_CASE("query heads of linear attention read the wrong keys") {
  const Tensor4 q = xt::zeros<float>(std::array<std::size_t, 4>{1, 4, 1, 1});
  const Tensor4 k = xt::zeros<float>(std::array<std::size_t, 4>{1, 2, 1, 1});
  CHECK(mismatch(numbers(run(q, k, tensor4({1, 2, 1, 1}, {10, 20}))),
                 {{1, 4, 1, 1}, {10, 10, 20, 20}}, kExact) == "");
  RandomInput random(54);
  const Tensor4 q6 = random.tensor4({2, 6, 4, 3}), k2 = random.tensor4({2, 2, 4, 3});
  const Tensor4 v2 = random.tensor4({2, 2, 4, 5});
  for (const bool causal : {false, true}) {
    CHECK(other_bits(run(q6, k2, v2, causal),
                     run(q6, repeat_kv(k2, 3), repeat_kv(v2, 3), causal)) == "");
  }
}

TEST_CASE("linear attention of nothing") {
  const auto ones = [](const std::array<std::size_t, 4>& shape) {
    Tensor4 x = Tensor4::from_shape(shape);
    std::fill_n(x.data(), x.size(), 1.0F);
    return x;
  };
  const auto shape_for = [&](std::size_t batch, std::size_t queries, std::size_t keys) {
    const Tensor4 output =
        run(ones({batch, 2, queries, 3}), ones({batch, 2, keys, 3}), ones({batch, 2, keys, 4}));
    return std::make_pair(shape_of(output),
                          std::accumulate(output.data(), output.data() + output.size(), 0.0F));
  };
  CHECK(shape_for(0, 3, 2) == std::make_pair(Shape{0, 2, 3, 4}, 0.0F));
  CHECK(shape_for(1, 0, 2) == std::make_pair(Shape{1, 2, 0, 4}, 0.0F));
  CHECK(shape_for(1, 3, 0) == std::make_pair(Shape{1, 2, 3, 4}, 0.0F));
}

TEST_CASE("linear attention takes what does not fit together") {
  const Tensor4 two = zero_tokens(2), three = zero_tokens(3);
  CHECK(refusal(ErrorCode::AMBIGUOUS_CAUSAL, {"L = 2", "S = 3"},
                [&] { run(two, three, three, true); }) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"same number of keys"}, [&] { run(two, two, three); }) == "");
  CHECK(refusal(ErrorCode::HEADS, {"divide"}, [&] {
          run(xt::zeros<float>(std::array<std::size_t, 4>{1, 3, 2, 1}),
              xt::zeros<float>(std::array<std::size_t, 4>{1, 2, 2, 1}),
              xt::zeros<float>(std::array<std::size_t, 4>{1, 2, 2, 1}));
        }) == "");
  for (const Shape& shape : {Shape{2}, Shape{2, 1}, Shape{1, 3}, Shape{1, 1, 1, 2}}) {
    const NdBool mask = xt::ones<std::uint8_t>(shape);
    CHECK(refusal(ErrorCode::MASK_SHAPE, {shape_text(shape), "[1, 2]"},
                  [&] { run(two, two, two, false, mask); }) == "");
  }
  for (const double eps : {-1.0, std::nan(""), static_cast<double>(kInf)}) {
    CHECK(refusal(ErrorCode::OPTION, {"eps"},
                  [&] { run(two, two, two, false, std::nullopt, eps); }) == "");
  }
}
