#include "additive.hpp"

#include <array>
#include <cmath>
#include <numeric>

#include "catch.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

Tensor1 vector_of(const std::vector<float>& data) {
  Tensor1 tensor = Tensor1::from_shape({data.size()});
  std::copy(data.begin(), data.end(), tensor.begin());
  return tensor;
}

struct Inputs {
  Tensor3 query, key, value;
  AdditiveParameters parameters;
};

Inputs random_inputs(RandomInput& random) {
  const std::size_t batch = random.between(1, 3), queries = random.between(1, 5);
  const std::size_t keys = random.between(1, 6), width = random.between(1, 9);
  const std::size_t dq = random.between(1, 6), dk = random.between(1, 6);
  Inputs inputs{random.tensor3({batch, queries, dq}),
                random.tensor3({batch, keys, dk}),
                random.tensor3({batch, keys, random.between(1, 5)}),
                {random.nd_array({width, dq}), random.nd_array({width, dk}),
                 random.nd_array({width}), Tensor1()}};
  if (random.chance(0.5)) {
    inputs.parameters.b = random.nd_array({width});
  }
  return inputs;
}

/// From the formula; `bias` as for attention, the batch in the place of b.
oracle::Passes looked_up(const Inputs& in, const oracle::Bias& bias) {
  const auto& [w, u, v, b] = in.parameters;
  const std::size_t batch = in.query.shape(0), queries = in.query.shape(1), keys = in.key.shape(1);
  oracle::Passes p;
  p.scores.shape = p.weights.shape = {batch, queries, keys};
  p.output = {{batch, queries, in.value.shape(2)}, {}};
  for (std::size_t n = 0; n < batch; ++n) {
    for (std::size_t i = 0; i < queries; ++i) {
      std::vector<double> e(keys);
      double total = 0;
      for (std::size_t j = 0; j < keys; ++j) {
        double score = 0;
        for (std::size_t a = 0; a < v.size(); ++a) {
          double inner = b.size() == 0 ? 0 : static_cast<double>(b(a));
          for (std::size_t d = 0; d < w.shape(1); ++d) {
            inner += static_cast<double>(w(a, d)) * static_cast<double>(in.query(n, i, d));
          }
          for (std::size_t d = 0; d < u.shape(1); ++d) {
            inner += static_cast<double>(u(a, d)) * static_cast<double>(in.key(n, j, d));
          }
          // tanh by its definition
          score += static_cast<double>(v(a)) * (1 - 2 / (std::exp(2 * inner) + 1));
        }
        p.scores.data.push_back(score);
        const double added = bias(n, 0, i, j);
        e[j] = std::isinf(added) ? 0 : std::exp(score + added);
        total += e[j];
      }
      for (std::size_t j = 0; j < keys; ++j) {
        p.weights.data.push_back(total == 0 ? 0 : e[j] / total);
      }
      for (std::size_t c = 0; c < in.value.shape(2); ++c) {
        double sum = 0;
        for (std::size_t j = 0; j < keys; ++j) {
          sum +=
              total == 0 || e[j] == 0 ? 0 : e[j] / total * static_cast<double>(in.value(n, j, c));
        }
        p.output.data.push_back(sum);
      }
    }
  }
  return p;
}

AdditiveResult run(const Inputs& in, const std::optional<Mask>& mask = std::nullopt,
                   Trace* trace = nullptr) {
  return additive_attention(in.query, in.key, in.value, in.parameters, mask, trace);
}

/// W = U = v = (1), so that the score of q and k is tanh(q + k).
Inputs one_wide(const std::vector<float>& query, const std::vector<float>& key,
                const std::vector<float>& value) {
  const Tensor2 one = tensor2({1, 1}, {1});
  return {tensor3({1, query.size(), 1}, query),
          tensor3({1, key.size(), 1}, key),
          tensor3({1, value.size(), 1}, value),
          {one, one, vector_of({1}), Tensor1()}};
}

}  // namespace

TEST_CASE("additive attention by hand") {
  // tanh(0.5 + 0.5) = 0.761594, tanh(0.5 - 0.5) = 0: weights 0.681700, 0.318300
  const auto result = run(one_wide({0.5F}, {0.5F, -0.5F}, {1, 0}));
  CHECK(mismatch(numbers(result.weights), {{1, 1, 2}, {0.681700, 0.318300}}, kSixDecimals) == "");
  CHECK(mismatch(numbers(result.output), {{1, 1, 1}, {0.681700}}, kSixDecimals) == "");
}

TEST_CASE("additive attention against the formula, with every shape of mask") {
  RandomInput random(41);
  for (int round = 0; round < 80; ++round) {
    const Inputs in = random_inputs(random);
    const Shape scores = {in.query.shape(0), in.query.shape(1), in.key.shape(1)};
    std::optional<Mask> mask;
    if (random.chance(0.7)) {
      Shape shape(scores.end() - static_cast<std::ptrdiff_t>(random.between(0, 3)), scores.end());
      for (std::size_t& size : shape) {
        size = random.chance(0.3) ? 1 : size;
      }
      mask = random.chance(0.5) ? Mask(random.keep(shape, 0.7)) : Mask(random.bias(shape, 0.7));
    }
    const auto bias = [&](std::size_t n, std::size_t, std::size_t i, std::size_t j) {
      // the oracle broadcasts to four axes: the batch stands second
      return oracle_bias(mask ? std::vector<Mask>{*mask} : std::vector<Mask>{}, Causal::none,
                         scores[1], scores[2])(0, n, i, j);
    };
    INFO("round " << round);
    Trace trace;
    const auto result = run(in, mask, &trace);
    const auto want = looked_up(in, bias);
    CHECK(mismatch(numbers(result.weights), want.weights, {3e-6, 0}) == "");
    CHECK(mismatch(numbers(result.output), want.output, {6e-6, 0}) == "");

    const auto plain = run(in, mask);
    CHECK(other_bits(plain.output, result.output) == "");
    std::vector<std::string> ids;
    for (const TraceStep& step : trace.steps()) {
      ids.push_back(step.id);
      CHECK(step.tensor.shape(0) == 1);
      CHECK(step.tensor.shape(1) == scores[0]);
    }
    CHECK(ids == std::vector<std::string>{"query", "key", "scores", "masked", "rowMax", "exp",
                                          "rowSum", "weights", "output"});
    CHECK(mismatch(reshaped(numbers(trace.steps().at(2).tensor), scores), want.scores, {3e-6, 0}) ==
          "");
    CHECK(other_bits(trace.steps().at(7).tensor.data(), result.weights.data(),
                     result.weights.size()) == "");
  }
}

TEST_CASE("what a masked key or value holds reaches the output of additive attention") {
  for (const float rubbish : {kNaN, kInf, -kInf, kMaxFloat}) {
    const auto result = run(one_wide({0}, {0, rubbish}, {4, rubbish}), keep({2}, {1, 0}));
    CHECK(mismatch(numbers(result.output), {{1, 1, 1}, {4}}, kExact) == "");
    CHECK(mismatch(numbers(result.weights), {{1, 1, 2}, {1, 0}}, kExact) == "");
  }
}

TEST_CASE("a query without a key in additive attention") {
  const Inputs in = one_wide({1, 1}, {1, 2}, {3, 5});
  const auto result = run(in, keep({2, 2}, {0, 0, 1, 0}));
  CHECK(mismatch(numbers(result.output), {{1, 2, 1}, {0, 3}}, kExact) == "");
  CHECK(mismatch(numbers(result.weights), {{1, 2, 2}, {0, 0, 1, 0}}, kExact) == "");
}

TEST_CASE("scores beyond float32 in additive attention") {
  Inputs in = one_wide({1}, {1, 1}, {1, 3});
  in.parameters = {tensor2({2, 1}, {100, 100}), tensor2({2, 1}, {0, 0}),
                   vector_of({kMaxFloat, kMaxFloat}), Tensor1()};
  Trace trace;
  CHECK(mismatch(numbers(run(in, std::nullopt, &trace).output), {{1, 1, 1}, {2}}, kExact) == "");
  CHECK(trace.steps().at(2).id == "scores");
  const auto largest = static_cast<double>(kMaxFloat);  // only a mask is ever infinite
  CHECK(mismatch(numbers(trace.steps().at(2).tensor), {{1, 1, 1, 2}, {largest, largest}}, kExact) ==
        "");
}

TEST_CASE("one batch row of additive attention depends on another") {
  RandomInput random(42);
  Inputs in{random.tensor3({3, 2, 4}),
            random.tensor3({3, 5, 3}),
            random.tensor3({3, 5, 2}),
            {random.nd_array({6, 4}), random.nd_array({6, 3}), random.nd_array({6}), Tensor1()}};
  const auto together = run(in);
  for (std::size_t b = 0; b < 3; ++b) {
    const auto row = [b](const Tensor3& x) {
      Tensor3 part = Tensor3::from_shape({1, x.shape(1), x.shape(2)});
      std::copy_n(&x(b, 0, 0), part.size(), part.data());
      return part;
    };
    const auto alone = run({row(in.query), row(in.key), row(in.value), in.parameters});
    CHECK(other_bits(&together.output(b, 0, 0), alone.output.data(), alone.output.size()) == "");
  }
}

TEST_CASE("additive attention of nothing") {
  RandomInput random(43);
  const AdditiveParameters parameters{random.nd_array({3, 2}), random.nd_array({3, 2}),
                                      random.nd_array({3}), Tensor1()};
  const auto ones = [](const std::array<std::size_t, 3>& shape) {
    Tensor3 x = Tensor3::from_shape(shape);
    std::fill_n(x.data(), x.size(), 1.0F);
    return x;
  };
  const auto shape_for = [&](std::size_t batch, std::size_t queries, std::size_t keys) {
    const auto result = additive_attention(ones({batch, queries, 2}), ones({batch, keys, 2}),
                                           ones({batch, keys, 4}), parameters, std::nullopt);
    const float* data = result.output.data();
    return std::make_pair(shape_of(result.output),
                          std::accumulate(data, data + result.output.size(), 0.0F));
  };
  CHECK(shape_for(0, 3, 2) == std::make_pair(Shape{0, 3, 4}, 0.0F));
  CHECK(shape_for(1, 0, 2) == std::make_pair(Shape{1, 0, 4}, 0.0F));
  CHECK(shape_for(2, 3, 0) == std::make_pair(Shape{2, 3, 4}, 0.0F));
}

TEST_CASE("additive attention takes what does not fit together") {
  const auto check = [](const Shape& query, const Shape& key, const Shape& value, ErrorCode code,
                        const std::string& fragment) {
    CHECK(refusal(code, {fragment, shape_text(query)},
                  [&] { require_additive_shapes(query, key, value); }) == "");
  };
  check({3}, {3}, {3}, ErrorCode::RANK, "2 or 3 axes");
  check({1, 1, 2, 3}, {1, 1, 2, 3}, {1, 1, 2, 3}, ErrorCode::RANK, "2 or 3 axes");
  check({1, 2, 3}, {2, 3}, {1, 2, 3}, ErrorCode::RANK, "same number");
  check({1, 2, 3}, {1, 2, 3}, {2, 3}, ErrorCode::RANK, "same number");
  check({1, 2, 0}, {1, 2, 3}, {1, 2, 3}, ErrorCode::SHAPE, "last axis");
  check({1, 2, 3}, {1, 2, 3}, {1, 2, 0}, ErrorCode::SHAPE, "last axis");
  check({1, 2, 3}, {2, 2, 3}, {1, 2, 3}, ErrorCode::SHAPE, "batch");
  check({1, 2, 3}, {1, 2, 3}, {2, 2, 3}, ErrorCode::SHAPE, "batch");
  check({1, 2, 3}, {1, 2, 3}, {1, 4, 3}, ErrorCode::SHAPE, "same length");

  RandomInput random(44);
  const Inputs good{random.tensor3({1, 2, 3}),
                    random.tensor3({1, 5, 4}),
                    random.tensor3({1, 5, 2}),
                    {random.nd_array({6, 3}), random.nd_array({6, 4}), random.nd_array({6}),
                     random.nd_array({6})}};
  const auto changed = [&](const std::function<void(AdditiveParameters&)>& change) {
    Inputs in = good;
    change(in.parameters);
    return [=] { run(in); };
  };
  const auto wrong = [&](const std::string& fragment, const std::string& shape, auto change) {
    CHECK(refusal(ErrorCode::SHAPE, {fragment, shape}, changed(change)) == "");
  };
  wrong("W", "[6, 3]", [&](auto& p) { p.w = random.nd_array({3, 6}); });
  wrong("U", "[6, 4]", [&](auto& p) { p.u = random.nd_array({6, 3}); });
  wrong("W", "[5, 3]", [&](auto& p) { p.v = random.nd_array({5}); });
  wrong("b", "[6]", [&](auto& p) { p.b = random.nd_array({5}); });
  wrong("v", "[0]", [&](auto& p) { p.v = Tensor1::from_shape({0}); });

  for (const Shape& shape :
       {Shape{3}, Shape{5, 2}, Shape{3, 2, 5}, Shape{2, 2, 5}, Shape{1, 1, 2, 5}}) {
    CHECK(refusal(ErrorCode::MASK_SHAPE, {shape_text(shape), "[B, L, S] = [1, 2, 5]"},
                  [&] { run(good, random.keep(shape, 1)); }) == "");
  }
  CHECK(refusal(ErrorCode::MASK_VALUE, {"[5]"}, [&] {
          run(good, bias({5}, {0, 0, kNaN, 0, 0}));
        }) == "");
}
