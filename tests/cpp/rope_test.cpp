#include "rope.hpp"

#include <array>
#include <cmath>

#include "attention.hpp"
#include "catch.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

using Positions = std::vector<std::int64_t>;

RopeOptions options_of(RopeLayout layout, double theta = 10000, std::size_t dims = 0) {
  RopeOptions options{};
  options.layout = layout;
  options.theta = theta;
  options.dims = dims;
  return options;
}

RopeOptions inverse(RopeOptions options) {
  options.inverse = true;
  return options;
}

YarnScaling yarn_of(double factor, double original_max_positions) {
  YarnScaling yarn{};
  yarn.factor = factor;
  yarn.original_max_positions = original_max_positions;
  return yarn;
}

constexpr std::array<RopeLayout, 2> kLayouts = {RopeLayout::half, RopeLayout::interleaved};

/// The rotation from its definition, token by token: each pair as a complex number, angles in long
/// double. `frequency` gives the angle of pair i at position 1.
template <class Frequency>
Numbers turned(const Tensor4& x, RopeLayout layout, std::size_t dims, const Positions& positions,
               const Frequency& frequency) {
  Numbers y = numbers(x);
  const std::size_t width = x.shape(3), length = x.shape(2);
  for (std::size_t token = 0; token * width < y.data.size(); ++token) {
    const std::size_t i_of_row = token % length, b = token / length / x.shape(1);
    const std::int64_t position =
        positions.size() == length ? positions[i_of_row] : positions[b * length + i_of_row];
    double* features = y.data.data() + token * width;
    for (std::size_t i = 0; i < dims / 2; ++i) {
      const std::size_t one = layout == RopeLayout::half ? i : i + i;
      const std::size_t two = layout == RopeLayout::half ? i + dims / 2 : i + i + 1;
      const long double angle = static_cast<long double>(position) * frequency(i);
      const auto c = static_cast<double>(std::cos(angle)), s = static_cast<double>(std::sin(angle));
      const double a = features[one], b_ = features[two];
      features[one] = a * c - b_ * s;
      features[two] = a * s + b_ * c;
    }
  }
  return y;
}

auto plain_frequency(double theta, std::size_t dims) {
  return [=](std::size_t i) {
    return std::exp(-2.0L * static_cast<long double>(i) / static_cast<long double>(dims) *
                    std::log(static_cast<long double>(theta)));
  };
}

double squared_norm(const Tensor4& x) {
  double sum = 0;
  for (const float value : x) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
}

double dot(const Tensor4& a, const Tensor4& b) {
  double sum = 0;
  for (std::size_t e = 0; e < a.size(); ++e) {
    sum += static_cast<double>(a.data()[e]) * static_cast<double>(b.data()[e]);
  }
  return sum;
}

/// cos of pair 1 at a position, head dim 64: what the feature at 1 turns into.
double cos_of_pair_one(std::int64_t position, double theta = 10000) {
  Tensor4 x = xt::zeros<float>(std::array<std::size_t, 4>{1, 1, 1, 64});
  x(0, 0, 0, 1) = 1;
  return static_cast<double>(rope(x, options_of(RopeLayout::half, theta), {position})(0, 0, 0, 1));
}

}  // namespace

TEST_CASE("angles laid out for one pairing, rotation done with the other") {
  const Tensor4 x = tensor4({1, 4}, {1, 2, 3, 4});
  const Tensor4 interleaved = rope(x, options_of(RopeLayout::interleaved), {1});
  const Tensor4 half = rope(x, options_of(RopeLayout::half), {1});
  CHECK(mismatch(numbers(interleaved),
                 reshaped(list({-1.142640, 1.922076, 2.959851, 4.029800}), {1, 4}),
                 kSixDecimals) == "");
  CHECK(mismatch(numbers(half), reshaped(list({-1.984111, 1.959901, 2.462378, 4.019800}), {1, 4}),
                 kSixDecimals) == "");
  CHECK(squared_norm(interleaved) == Approx(30).epsilon(1e-6));
  CHECK(squared_norm(half) == Approx(30).epsilon(1e-6));
}

TEST_CASE("position 0 changes bits") {
  const Tensor4 x = tensor4({1, 6}, {-0.0F, -1, kNaN, 1e-45F, kInf, 0.1F});
  for (const RopeLayout layout : kLayouts) {
    CHECK(other_bits(rope(x, options_of(layout), {0}), x) == "");
    CHECK(other_bits(rope(x, inverse(options_of(layout)), {0}), x) == "");
  }
}

TEST_CASE("angles formed in float32") {
  CHECK(std::abs(cos_of_pair_one(99504) - -0.064462) < 1e-6);
  const RopeTable table = rope_table({99504}, 64, 10000, std::nullopt);
  CHECK(std::abs(static_cast<double>(table.cos(0, 1)) - -0.064462) < 1e-6);
  for (const double theta : {100.0, 10000.0, 500000.0, 1e6}) {
    for (const std::int64_t position :
         {std::int64_t{4095}, std::int64_t{131071}, std::int64_t{16777217}, kLargestPosition}) {
      const long double angle = static_cast<long double>(position) * plain_frequency(theta, 64)(1);
      INFO("theta " << theta << ", position " << position);
      CHECK(std::abs(cos_of_pair_one(position, theta) - static_cast<double>(std::cos(angle))) <
            1e-6);
    }
  }
}

TEST_CASE("positions that float32 cannot tell apart") {
  const Tensor4 x = tensor4({2, 2}, {1, 0, 1, 0});
  const Tensor4 y = rope(x, options_of(RopeLayout::half), {16777216, 16777217});
  CHECK(mismatch(numbers(y),
                 {{2, 2},
                  {std::cos(16777216.0), std::sin(16777216.0), std::cos(16777217.0),
                   std::sin(16777217.0)}},
                 kSixDecimals) == "");
}

TEST_CASE("the new token while decoding, rotated at another position or twice") {
  // Keys 0 and 1 were cached; q and k of each token are (1, 0). Read the weights through v.
  const Tensor4 token = tensor4({1, 2}, {1, 0});
  const Tensor4 k =
      rope(tensor4({3, 2}, {1, 0, 1, 0, 1, 0}), options_of(RopeLayout::half), {0, 1, 2});
  const Tensor4 q = rope(token, options_of(RopeLayout::half), {2});
  const Tensor4 v = tensor4({3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  CHECK(mismatch(numbers(attention(q, k, v, {}).output),
                 reshaped(list({0.175790, 0.345710, 0.478500}), {1, 3}), kSixDecimals) == "");
}

TEST_CASE("rope against the definition") {
  RandomInput random(11);
  for (int round = 0; round < 60; ++round) {
    const std::size_t width = random.between(2, 17);
    const std::size_t dims = 2 * random.between(1, width / 2);
    const Tensor4 x =
        random.tensor4({random.between(1, 3), random.between(1, 3), random.between(1, 6), width});
    const bool each_row = random.chance(0.5);
    Positions positions(x.shape(2) * (each_row ? x.shape(0) : 1));
    for (std::int64_t& position : positions) {
      position = static_cast<std::int64_t>(random.between(0, 5000));
    }
    const double theta = random.chance(0.5) ? 10000 : 1e6;
    for (const RopeLayout layout : kLayouts) {
      INFO("round " << round);
      const Tensor4 y = rope(x, options_of(layout, theta, dims), positions);
      CHECK(mismatch(numbers(y), turned(x, layout, dims, positions, plain_frequency(theta, dims)),
                     kContract) == "");
    }
  }
}

TEST_CASE("features beyond dims are touched") {
  Tensor4 x = tensor4({1, 6}, {1, 2, 3, 4, kNaN, -0.0F});
  for (const RopeLayout layout : kLayouts) {
    const Tensor4 y = rope(x, options_of(layout, 10000, 4), {9});
    CHECK(other_bits(&y(0, 0, 0, 4), &x(0, 0, 0, 4), 2) == "");
  }
}

TEST_CASE("the rotation stretches, or depends on more than the distance") {
  RandomInput random(12);
  for (const RopeLayout layout : kLayouts) {
    for (int round = 0; round < 20; ++round) {
      const Tensor4 q = random.tensor4({1, 1, 1, 8}), k = random.tensor4({1, 1, 1, 8});
      const auto first = static_cast<std::int64_t>(random.between(0, 100000));
      const auto distance = static_cast<std::int64_t>(random.between(0, 1000));
      const auto at = [&](const Tensor4& x, std::int64_t position) {
        return rope(x, options_of(layout), {position});
      };
      CHECK(squared_norm(at(q, first)) == Approx(squared_norm(q)).epsilon(1e-6));
      CHECK(std::abs(dot(at(q, first + distance), at(k, first)) - dot(at(q, distance), k)) < 1e-5);
    }
  }
}

TEST_CASE("the inverse does not undo") {
  RandomInput random(13);
  const Tensor4 x = random.tensor4({2, 2, 3, 8});
  const Positions positions = {7, 100000, kLargestPosition};
  for (const RopeLayout layout : kLayouts) {
    RopeOptions options = options_of(layout, 10000, 6);
    CHECK(mismatch(numbers(rope(rope(x, options, positions), inverse(options), positions)),
                   numbers(x), {1e-6, 0}) == "");
    options.scaling = yarn_of(16, 2048);  // stretches by 1.277
    CHECK(mismatch(numbers(rope(rope(x, options, positions), inverse(options), positions)),
                   numbers(x), {1e-6, 0}) == "");
  }
}

TEST_CASE("a batch row takes the positions of another") {
  RandomInput random(14);
  const Tensor4 x = random.tensor4({3, 2, 2, 4});
  const Positions positions = {5, 6, 0, 1, 70, 71};
  const Tensor4 together = rope(x, options_of(RopeLayout::interleaved), positions);
  for (std::size_t b = 0; b < 3; ++b) {
    Tensor4 row = Tensor4::from_shape({1, 2, 2, 4});
    std::copy_n(x.data() + b * 16, 16, row.data());
    const Tensor4 alone =
        rope(row, options_of(RopeLayout::interleaved), {positions[2 * b], positions[2 * b + 1]});
    CHECK(other_bits(together.data() + b * 16, alone.data(), 16) == "");
  }
}

TEST_CASE("yarn against the paper's formula") {
  // The pair with r turns within the original context L: theta^(2i/d) 2 pi r = L.
  const std::size_t dims = 96;
  const double theta = 1e6;
  YarnScaling yarn = yarn_of(16, 2048);
  const long double pi = std::acos(-1.0L);
  const auto pair_with = [&](long double turns) {
    return 48.0L * std::log(2048.0L / (2 * pi * turns)) / std::log(1e6L);
  };
  CHECK(std::floor(pair_with(32)) == 8);  // as the golden case says
  CHECK(std::ceil(pair_with(1)) == 21);
  const auto frequency = [&](std::size_t i) {
    const long double plain = plain_frequency(theta, dims)(i);
    if (i <= 8) {
      return plain;
    }
    return i >= 21 ? plain / 16
                   : plain * (1 - static_cast<long double>(i - 8) / 13 * (1 - 1 / 16.0L));
  };

  const RopeTable table = rope_table({0, 1, 30000}, dims, theta, yarn);
  const auto length = static_cast<double>(0.1L * std::log(16.0L) + 1);  // the default
  for (std::size_t i = 0; i < dims / 2; ++i) {
    INFO("pair " << i);
    CHECK(static_cast<double>(table.inverse_frequencies(i)) ==
          Approx(static_cast<double>(frequency(i))).epsilon(1e-7));
    const long double angle = 30000 * frequency(i);
    CHECK(std::abs(static_cast<double>(table.cos(2, i)) -
                   length * static_cast<double>(std::cos(angle))) < 1e-6);
    CHECK(std::abs(static_cast<double>(table.sin(2, i)) -
                   length * static_cast<double>(std::sin(angle))) < 1e-6);
    CHECK(static_cast<double>(table.cos(0, i)) == Approx(length).epsilon(1e-7));
  }

  yarn.attention_factor = 1;
  RandomInput random(15);
  const Tensor4 x = random.tensor4({1, 2, 3, dims});
  const Positions positions = {0, 2047, 30000};
  for (const RopeLayout layout : kLayouts) {
    RopeOptions options = options_of(layout, theta);
    options.scaling = yarn;
    CHECK(mismatch(numbers(rope(x, options, positions)),
                   turned(x, layout, dims, positions, frequency), kContract) == "");
    options.scaling->attention_factor = 2;  // at position 0 as well
    CHECK(squared_norm(rope(x, options, positions)) == Approx(4 * squared_norm(x)).epsilon(1e-6));
  }
}

TEST_CASE("a yarn ramp of no width divides by 0, and every pair may be fast or slow") {
  // Context 7: even one turn fits into no pair but the first.
  const RopeTable narrow = rope_table({1}, 4, 1e6, yarn_of(4, 7));
  CHECK(narrow.inverse_frequencies(0) == 1);
  CHECK(static_cast<double>(narrow.inverse_frequencies(1)) == Approx(0.001 / 4).epsilon(1e-6));
  // Context 1: nothing turns; all are slowed down, but for the first, where the ramp begins.
  const RopeTable slow = rope_table({1}, 4, 10000, yarn_of(4, 1));
  CHECK(slow.inverse_frequencies(0) == 1);
  CHECK(static_cast<double>(slow.inverse_frequencies(1)) == Approx(0.01 / 4).epsilon(1e-6));
  // A context of millions: all turn often enough.
  const RopeTable fast = rope_table({1}, 8, 100, yarn_of(4, 1e9));
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(static_cast<double>(fast.inverse_frequencies(i)) ==
          Approx(std::pow(100.0, -static_cast<double>(i) / 4)).epsilon(1e-6));
  }
}

TEST_CASE("running positions") {
  CHECK(running_positions(0, 3) == Positions{0, 1, 2});
  CHECK(running_positions(kLargestPosition, 1) == Positions{kLargestPosition});
  CHECK(running_positions(-5, 0).empty());
  CHECK(refusal(ErrorCode::OPTION, {"2147483648"},
                [] { running_positions(kLargestPosition, 2); }) == "");
}

TEST_CASE("rope of nothing") {
  CHECK(rope(Tensor4::from_shape({0, 2, 3, 4}), options_of(RopeLayout::half), {0, 1, 2}).size() ==
        0);
  CHECK(rope(Tensor4::from_shape({0, 2, 3, 4}), options_of(RopeLayout::half), {}).size() == 0);
  CHECK(rope(Tensor4::from_shape({2, 2, 0, 4}), options_of(RopeLayout::half), {}).shape(0) == 2);
  CHECK(rope_table({}, 4, 10000, std::nullopt).cos.shape(1) == 2);
}

TEST_CASE("rope takes what it cannot rotate") {
  const Tensor4 even = xt::zeros<float>(std::array<std::size_t, 4>{2, 1, 3, 4});
  const Tensor4 odd = xt::zeros<float>(std::array<std::size_t, 4>{2, 1, 3, 5});
  const Positions three = {0, 1, 2};
  const auto half = [](double theta = 10000, std::size_t dims = 0) {
    return options_of(RopeLayout::half, theta, dims);
  };
  CHECK(refusal(ErrorCode::SHAPE, {"[2, 1, 3, 5]", "even"}, [&] { rope(odd, half(), three); }) ==
        "");
  CHECK(refusal(ErrorCode::SHAPE, {"[1, 1, 1, 0]"}, [&] {
          rope(Tensor4::from_shape({1, 1, 1, 0}), half(), {0});
        }) == "");
  CHECK(refusal(ErrorCode::OPTION, {"dims = 3", "[2, 1, 3, 4]"},
                [&] { rope(even, half(10000, 3), three); }) == "");
  CHECK(refusal(ErrorCode::OPTION, {"dims = 6"}, [&] { rope(even, half(10000, 6), three); }) == "");
  for (const Positions& positions : {Positions{}, Positions{0}, Positions{0, 1}, Positions(12)}) {
    CHECK(refusal(ErrorCode::SHAPE, {"positions", "[2, 1, 3, 4]", "[B, L]"},
                  [&] { rope(even, half(), positions); }) == "");
  }
  for (const std::int64_t wrong : {std::int64_t{-1}, kLargestPosition + 1}) {
    CHECK(refusal(ErrorCode::OPTION, {"positions", std::to_string(wrong)}, [&] {
            rope(even, half(), {0, wrong, 2});
          }) == "");
    CHECK(refusal(ErrorCode::OPTION, {"positions"},
                  [&] { rope_table({wrong}, 4, 10000, std::nullopt); }) == "");
  }
  for (const double theta : {0.0, -1.0, std::nan(""), static_cast<double>(kInf)}) {
    CHECK(refusal(ErrorCode::OPTION, {"theta"}, [&] { rope(even, half(theta), three); }) == "");
  }
  for (const std::size_t dims : Shape{std::size_t{0}, std::size_t{3}}) {
    CHECK(refusal(ErrorCode::OPTION, {"dims"},
                  [&] { rope_table(three, dims, 10000, std::nullopt); }) == "");
  }
}

TEST_CASE("yarn takes what makes no sense") {
  const auto table = [](const YarnScaling& yarn, double theta = 10000) {
    rope_table({1}, 4, theta, yarn);
  };
  for (const double wrong : {0.5, std::nan(""), static_cast<double>(kInf)}) {
    CHECK(refusal(ErrorCode::OPTION, {"factor"}, [&] { table(yarn_of(wrong, 100)); }) == "");
    CHECK(refusal(ErrorCode::OPTION, {"originalMaxPositions"}, [&] { table(yarn_of(2, wrong)); }) ==
          "");
  }
  const auto with_betas = [&](double fast, double slow) {
    YarnScaling yarn = yarn_of(2, 100);
    yarn.beta_fast = fast;
    yarn.beta_slow = slow;
    return [=] { table(yarn); };
  };
  CHECK(refusal(ErrorCode::OPTION, {"betaFast", "betaSlow"}, with_betas(1, 1)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"betaFast"}, with_betas(1, 0)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"betaFast"}, with_betas(std::nan(""), 1)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"betaFast"}, with_betas(static_cast<double>(kInf), 1)) == "");
  for (const double wrong : {0.0, -1.0, std::nan("")}) {
    YarnScaling yarn = yarn_of(2, 100);
    yarn.attention_factor = wrong;
    CHECK(refusal(ErrorCode::OPTION, {"attentionFactor"}, [&] { table(yarn); }) == "");
  }
  CHECK(refusal(ErrorCode::OPTION, {"theta"}, [&] { table(yarn_of(2, 100), 1); }) == "");
}
