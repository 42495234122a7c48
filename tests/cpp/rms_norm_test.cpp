#include "rms_norm.hpp"

#include <cmath>

#include "catch.hpp"
#include "heads.hpp"
#include "rope.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

Tensor1 weight(const std::vector<float>& data) {
  Tensor1 tensor = Tensor1::from_shape({data.size()});
  std::copy(data.begin(), data.end(), tensor.begin());
  return tensor;
}

const Tensor1 kNoWeight;

/// Row by row from the definition.
Numbers normed(const NdArray& x, const std::vector<double>& factors, double eps) {
  Numbers y = numbers(x);
  const std::size_t width = factors.size();
  for (std::size_t begin = 0; begin < y.data.size(); begin += width) {
    long double squares = 0;
    for (std::size_t e = 0; e < width; ++e) {
      squares += static_cast<long double>(y.data[begin + e]) * y.data[begin + e];
    }
    const auto root =
        static_cast<double>(std::sqrt(squares / static_cast<long double>(width) + eps));
    for (std::size_t e = 0; e < width; ++e) {
      y.data[begin + e] *= factors[e] / root;
    }
  }
  return y;
}

Tensor4 at_position_one(const Tensor4& x) {
  RopeOptions options{};
  options.layout = RopeLayout::half;
  return rope(x, options, {1});
}

}  // namespace

TEST_CASE("q/k norm after RoPE instead of before, with a weight that tells") {
  const Tensor4 x = tensor4({1, 2}, {3, 4});
  const auto row = [](double a, double b) { return Numbers{{1, 2}, {a, b}}; };
  const Tensor1 uneven = weight({2, 1}), even = weight({1, 1});
  CHECK(mismatch(numbers(at_position_one(rms_norm(x, uneven, 0))), row(-0.035092, 2.039306),
                 kSixDecimals) == "");
  CHECK(mismatch(numbers(rms_norm(at_position_one(x), uneven, 0)), row(-0.987108, 1.325294),
                 kSixDecimals) == "");
  CHECK(mismatch(numbers(at_position_one(rms_norm(x, even, 0))), row(-0.493554, 1.325294),
                 kSixDecimals) == "");
  CHECK(mismatch(numbers(rms_norm(at_position_one(x), even, 0)), row(-0.493554, 1.325294),
                 kSixDecimals) == "");
}

TEST_CASE("the norm runs over the whole projection instead of each head") {
  const Tensor3 x = tensor3({1, 1, 4}, {3, 4, 0, 0});
  const Tensor4 heads = rms_norm(split_heads(x, 2), kNoWeight, 0);
  CHECK(mismatch(numbers(merge_heads(heads)), {{1, 1, 4}, {0.848528, 1.131371, 0, 0}},
                 kSixDecimals) == "");
  CHECK(mismatch(numbers(rms_norm(NdArray(x), kNoWeight, 0)), {{1, 1, 4}, {1.2, 1.6, 0, 0}},
                 kSixDecimals) == "");
}

TEST_CASE("rms_norm against the definition") {
  RandomInput random(21);
  for (int round = 0; round < 40; ++round) {
    Shape shape(random.between(1, 5));
    for (std::size_t& size : shape) {
      size = random.between(1, 5);
    }
    shape.back() = random.between(1, 40);
    const NdArray x = random.nd_array(shape);
    const NdArray w = random.nd_array({shape.back()});
    const double eps = random.chance(0.5) ? 1e-6 : 0.25;
    std::vector<double> factors(w.begin(), w.end());
    INFO("round " << round);
    CHECK(mismatch(numbers(rms_norm(x, w, eps)), normed(x, factors, eps), kContract) == "");
    for (double& factor : factors) {
      factor += 1;
    }
    CHECK(mismatch(numbers(rms_norm(x, w, eps, true)), normed(x, factors, eps), kContract) == "");
    CHECK(mismatch(numbers(rms_norm(x, kNoWeight, eps)),
                   normed(x, std::vector<double>(shape.back(), 1), eps), kContract) == "");
  }
}

TEST_CASE("rms_norm of heads and of any array give other bits") {
  RandomInput random(22);
  const Tensor4 x = random.tensor4({2, 3, 4, 5});
  const Tensor1 w = random.nd_array({5});
  const Tensor4 from_array = rms_norm(NdArray(x), w, 1e-6);
  CHECK(other_bits(rms_norm(x, w, 1e-6), from_array) == "");
}

TEST_CASE("squares that overflow or vanish in float32") {
  const auto two = [](float a, float b) { return nd_array({2}, {a, b}); };
  const Numbers even = {{2}, {0.848528, 1.131371}};  // of (3, 4)
  CHECK(mismatch(numbers(rms_norm(two(3e30F, 4e30F), kNoWeight, 1e-6)), even, kSixDecimals) == "");
  CHECK(mismatch(numbers(rms_norm(two(3e-30F, 4e-30F), kNoWeight, 0)), even, kSixDecimals) == "");
  CHECK(mismatch(numbers(rms_norm(two(kMaxFloat, kMaxFloat), kNoWeight, 0)), {{2}, {1, 1}},
                 kSixDecimals) == "");
}

TEST_CASE("a row of zeros") {
  const NdArray zeros = nd_array({2, 2}, {0, -0.0F, 3, 4});
  for (const double eps : {0.0, 1e-6}) {
    const NdArray y = rms_norm(zeros, kNoWeight, eps);
    CHECK(other_bits(y.data(), zeros.data(), 2) == "");
  }
}

TEST_CASE("rms_norm of nothing") {
  CHECK(rms_norm(NdArray::from_shape({0, 3}), kNoWeight, 0).size() == 0);
  CHECK(rms_norm(Tensor4::from_shape({2, 3, 0, 4}), kNoWeight, 0).shape(3) == 4);
}

TEST_CASE("rms_norm takes what it cannot norm") {
  const NdArray x = nd_array({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(refusal(ErrorCode::RANK, {"x []"}, [] { rms_norm(nd_array({}, {1}), kNoWeight, 0); }) ==
        "");
  CHECK(refusal(ErrorCode::SHAPE, {"x [2, 0]"}, [] {
          rms_norm(NdArray::from_shape({2, 0}), kNoWeight, 0);
        }) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"weight [2]", "x [2, 3]"}, [&] {
          rms_norm(x, weight({1, 1}), 0);
        }) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"weight [6]"}, [&] {
          rms_norm(x, weight({1, 1, 1, 1, 1, 1}), 0);
        }) == "");
  for (const double eps : {-1e-6, std::nan(""), static_cast<double>(kInf)}) {
    CHECK(refusal(ErrorCode::OPTION, {"eps"}, [&] { rms_norm(x, kNoWeight, eps); }) == "");
  }
  CHECK(refusal(ErrorCode::OPTION, {"unitOffset"}, [&] { rms_norm(x, kNoWeight, 0, true); }) == "");
}
