// A mean of the largest floats rounded to Infinity: weights of 1/7 in float32 sum to a little more
// than 1.

#include "additive.hpp"
#include "attention.hpp"
#include "catch.hpp"
#include "linear.hpp"
#include "rms_norm.hpp"
#include "rope.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

/// v [1, 1, S, 1], all the same.
Tensor4 same(std::size_t keys, float value) { return tokens(std::vector<float>(keys, value)); }

constexpr Tolerance kRounding{0, 1e-6};

}  // namespace

TEST_CASE("regression: a mean of the largest floats becomes infinite") {
  const AdditiveParameters parameters{tensor2({1, 1}, {1}), tensor2({1, 1}, {1}), Tensor1{1.0F},
                                      Tensor1()};
  for (std::size_t keys = 1; keys <= 70; ++keys) {
    CAPTURE(keys);
    for (const float largest : {kMaxFloat, -kMaxFloat}) {
      const Numbers want = list({static_cast<double>(largest)});
      const Tensor4 v = same(keys, largest);
      CHECK(mismatch(
                reshaped(numbers(attention(zero_tokens(1), zero_tokens(keys), v, {}).output), {1}),
                want, kRounding) == "");
      const Tensor3 key = tensor3({1, keys, 1}, std::vector<float>(keys, 0));
      const Tensor3 value = tensor3({1, keys, 1}, std::vector<float>(keys, largest));
      const auto looked_up =
          additive_attention(tensor3({1, 1, 1}, {0}), key, value, parameters, std::nullopt);
      CHECK(mismatch(reshaped(numbers(looked_up.output), {1}), want, kRounding) == "");
    }
  }
}

TEST_CASE("regression: what is infinite among the visible values stays so") {
  const auto looked_up = [](std::vector<float> values, std::vector<std::uint8_t> visible) {
    const std::size_t keys = values.size();
    return attention(zero_tokens(1), zero_tokens(keys), tokens(values),
                     with({keep({keys}, visible)}))
        .output(0, 0, 0, 0);
  };
  CHECK(looked_up({kInf, 1}, {1, 1}) == kInf);
  CHECK(looked_up({1, -kInf}, {1, 1}) == -kInf);
  CHECK(std::isnan(looked_up({kInf, -kInf}, {1, 1})));
  CHECK(std::isnan(looked_up({kNaN, kMaxFloat}, {1, 1})));
  CHECK(looked_up({1, kInf}, {1, 0}) == 1);
}

TEST_CASE("regression: a projection of finite numbers becomes infinite") {
  const auto projected = [](float x, float weight, float bias) {
    return linear(tensor3({1, 1, 2}, {x, x}), tensor2({1, 2}, {weight, weight}), Tensor1{bias})(
        0, 0, 0);
  };
  CHECK(projected(1e30F, 1e30F, 0) == kMaxFloat);
  CHECK(projected(-1e30F, 1e30F, 0) == -kMaxFloat);
  CHECK(projected(1, kMaxFloat, 0) == kMaxFloat);
  CHECK(projected(1, 1, kMaxFloat) == kMaxFloat);
  CHECK(projected(kInf, 1, 0) == kInf);
  CHECK(projected(1, 1, -kInf) == -kInf);
  CHECK(std::isnan(projected(kInf, 0, 0)));
}

TEST_CASE("regression: a rotation or a norm of finite numbers becomes infinite") {
  RopeOptions half;
  half.layout = RopeLayout::half;
  const Tensor4 turned = rope(tensor4({1, 1, 1, 2}, {kMaxFloat, kMaxFloat}), half, {1});
  CHECK(turned(0, 0, 0, 1) == kMaxFloat);  // cos 1 + sin 1 = 1.38
  const double first = static_cast<double>(kMaxFloat) * (std::cos(1.0) - std::sin(1.0));
  CHECK(mismatch(list({static_cast<double>(turned(0, 0, 0, 0))}), list({first}), kRounding) == "");
  CHECK(rope(tensor4({1, 1, 1, 2}, {kInf, 1}), half, {1})(0, 0, 0, 0) == kInf);

  const NdArray row = nd_array({3}, {3, 0, 0});  // / sqrt(3) = 1.73 for the first
  CHECK(rms_norm(row, Tensor1{kMaxFloat, 1.0F, 1.0F}, 0)(0) == kMaxFloat);
  CHECK(rms_norm(row, Tensor1{kInf, 1.0F, 1.0F}, 0)(0) == kInf);
}
