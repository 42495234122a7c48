#include "trace.hpp"

#include "attention.hpp"
#include "catch.hpp"
#include "faulty.hpp"
#include "golden.hpp"
#include "multi_head.hpp"
#include "softmax.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

using Names = std::vector<std::string>;

const Names kAttentionPasses = {"scores", "scaled", "masked",  "rowMax",
                                "exp",    "rowSum", "weights", "output"};

Names names_of(const Trace& trace) {
  Names names;
  for (const TraceStep& step : trace.steps()) {
    names.push_back(step.id);
    INFO(step.id);
    CHECK(step.formula.size() > 2);
  }
  return names;
}

NdArray pass(const Trace& trace, const std::string& id) {
  for (const TraceStep& step : trace.steps()) {
    if (step.id == id) {
      return step.tensor;
    }
  }
  throw std::logic_error("no pass called " + id);
}

void check_passes(const Trace& trace, const oracle::Passes& want, Tolerance tolerance) {
  const std::vector<std::pair<const char*, const Numbers*>> passes = {
      {"scores", &want.scores},   {"scaled", &want.scaled}, {"masked", &want.masked},
      {"rowMax", &want.row_max},  {"exp", &want.exp},       {"rowSum", &want.row_sum},
      {"weights", &want.weights}, {"output", &want.output}};
  for (const auto& [id, numbers_wanted] : passes) {
    INFO(id);
    CHECK(shape_of(pass(trace, id)) == numbers_wanted->shape);
    CHECK(mismatch(numbers(pass(trace, id)), *numbers_wanted, tolerance) == "");
  }
}

/// The course's 4-token example.
struct Toy {
  Tensor4 q, k, v;
  Toy() {
    for (const GoldenCase& golden : read_golden("course")) {
      if (golden.name == "toy_full") {
        q = tensor4(golden.input("Q"));
        k = tensor4(golden.input("K"));
        v = tensor4(golden.input("V"));
      }
    }
  }
};

}  // namespace

TEST_CASE("trace: a pass is not what its formula says (the course's example)") {
  const Toy toy;
  REQUIRE(shape_of(toy.q) == Shape{1, 1, 4, 2});
  for (const Causal causal : {Causal::none, Causal::square}) {
    Trace trace;
    const auto result = attention(toy.q, toy.k, toy.v, with({}, causal), &trace);
    CHECK(names_of(trace) == kAttentionPasses);
    check_passes(trace,
                 oracle::attention(numbers(toy.q), numbers(toy.k), numbers(toy.v),
                                   oracle_bias({}, causal, 4, 4)),
                 kSixDecimals);
    CHECK(other_bits(pass(trace, "output"), NdArray(result.output)) == "");
    CHECK(other_bits(pass(trace, "weights"), NdArray(result.weights)) == "");
  }
}

TEST_CASE("trace: a pass is not what its formula says (groups, masks, dead rows)") {
  RandomInput random(61);
  const Tensor4 q = random.tensor4({2, 4, 3, 5}), k = random.tensor4({2, 2, 6, 5});
  const Tensor4 v = random.tensor4({2, 2, 6, 7});
  NdArray additive = random.bias({2, 1, 3, 6}, 0.6);
  for (std::size_t j = 0; j < 6; ++j) {
    additive(1, 0, 1, j) = -kInf;
  }
  const std::vector<Mask> masks = {additive};
  AttentionOptions options = with(masks, Causal::bottom_right);
  options.scale = 0.75F;
  Trace trace;
  const auto result = attention(q, k, v, options, &trace);
  check_passes(trace,
               oracle::attention(numbers(q), numbers(k), numbers(v),
                                 oracle_bias(masks, options.causal, 3, 6), 0.75),
               {2e-6, 1e-6});
  CHECK(other_bits(pass(trace, "output"), NdArray(result.output)) == "");
  CHECK(pass(trace, "rowMax")(1, 0, 1) == -kInf);
  CHECK(pass(trace, "rowSum")(1, 0, 1) == 0);
}

TEST_CASE("trace: recording changes the computation, or a second run appends") {
  RandomInput random(62);
  const Tensor4 x = random.tensor4({1, 2, 5, 3});
  Trace trace;
  const auto traced = attention(x, x, x, with({}, Causal::square), &trace);
  const auto silent = attention(x, x, x, with({}, Causal::square));
  CHECK(other_bits(traced.output, silent.output) == "");
  CHECK(other_bits(traced.weights, silent.weights) == "");
  Trace other;
  attention(x, x, x, {}, &other);
  CHECK(trace.steps().size() == 8);
  CHECK(other.steps().size() == 8);
}

TEST_CASE("trace: softmax with the mask after it hides its order") {
  Tensor4 scores = tensor4({1, 1, 1, 4}, {3, 0.5F, -1, 2});
  Trace trace;
  softmax_then_mask(scores, MaskRule({keep({4}, {1, 1, 0, 0})}, Causal::none, {1, 1, 1, 4}),
                    &trace);
  CHECK(names_of(trace) == Names{"rowMax", "exp", "rowSum", "softmax", "weights"});
  CHECK(mismatch(numbers(pass(trace, "softmax")), list({0.681069, 0.055906, 0.012474, 0.250551}),
                 kSixDecimals) == "");
  CHECK(mismatch(numbers(pass(trace, "weights")), list({0.681069, 0.055906, 0, 0}), kSixDecimals) ==
        "");
  CHECK(other_bits(pass(trace, "weights"), NdArray(scores)) == "");
}

TEST_CASE("trace: the module leaves out a step of its shapes") {
  RandomInput random(63);
  MultiHeadAttention module({6, 3, 5, 4, true, false, true});
  module.load({{"q_proj_weight", random.nd_array({6, 6})},
               {"k_proj_weight", random.nd_array({6, 5})},
               {"v_proj_weight", random.nd_array({6, 4})},
               {"in_proj_bias", random.nd_array({18})},
               {"out_proj.weight", random.nd_array({6, 6})},
               {"out_proj.bias", random.nd_array({6})}});
  const Tensor3 query = random.tensor3({2, 3, 6}), key = random.tensor3({2, 4, 5});
  const Tensor3 value = random.tensor3({2, 4, 4});
  Trace trace;
  const auto result = module.forward(query, key, value, {}, &trace);

  const std::vector<std::pair<std::string, Shape>> want = {
      {"query", {2, 3, 6}},         {"key", {2, 5, 6}},  // one more: the key of zeros
      {"value", {2, 5, 6}},         {"queryHeads", {2, 3, 3, 2}}, {"keyHeads", {2, 3, 5, 2}},
      {"valueHeads", {2, 3, 5, 2}}, {"scores", {2, 3, 3, 5}},     {"scaled", {2, 3, 3, 5}},
      {"masked", {2, 3, 3, 5}},     {"rowMax", {2, 3, 3}},        {"exp", {2, 3, 3, 5}},
      {"rowSum", {2, 3, 3}},        {"weights", {2, 3, 3, 5}},    {"heads", {2, 3, 3, 2}},
      {"merged", {2, 3, 6}},        {"output", {2, 3, 6}}};
  REQUIRE(names_of(trace).size() == want.size());
  for (std::size_t n = 0; n < want.size(); ++n) {
    CHECK(trace.steps()[n].id == want[n].first);
    CHECK(shape_of(trace.steps()[n].tensor) == want[n].second);
  }
  CHECK(other_bits(trace.steps().back().tensor, NdArray(result.output)) == "");
  CHECK(other_bits(pass(trace, "weights"), NdArray(result.weights)) == "");

  // each pass from the one before
  const auto heads_of = [&](const char* id) { return numbers(pass(trace, id)); };
  const auto attended =
      oracle::attention(heads_of("queryHeads"), heads_of("keyHeads"), heads_of("valueHeads"));
  check_passes(trace,
               [&] {
                 oracle::Passes passes = attended;
                 passes.output = numbers(pass(trace, "output"));  // of the module, checked above
                 return passes;
               }(),
               {1e-5, 1e-5});
  CHECK(mismatch(heads_of("heads"), attended.output, {1e-5, 1e-5}) == "");
  const NdArray heads = pass(trace, "heads"), merged = pass(trace, "merged");
  std::size_t wrong = 0;
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t column = 0; column < 6; ++column) {
        wrong += merged(b, i, column) == heads(b, column / 2, i, column % 2) ? 0U : 1U;
      }
    }
  }
  CHECK(wrong == 0);
}
