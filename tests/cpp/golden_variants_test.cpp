#include "additive.hpp"
#include "attention.hpp"
#include "catch.hpp"
#include "flash.hpp"
#include "golden.hpp"
#include "linear_attention.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

NdArray parameter(const GoldenCase& golden, const std::string& name) {
  const Numbers& values = golden.input(name);
  return nd_array(values.shape, {values.data.begin(), values.data.end()});
}

void run_additive(const GoldenCase& golden, GoldenCheck& check) {
  AdditiveParameters parameters{parameter(golden, "W"), parameter(golden, "U"),
                                parameter(golden, "v"), Tensor1()};
  if (golden.has_input("b")) {
    parameters.b = parameter(golden, "b");
  }
  Trace trace;
  const auto result =
      additive_attention(tensor3(golden.input("query")), tensor3(golden.input("key")),
                         tensor3(golden.input("value")), parameters, std::nullopt, &trace);
  check("weights", numbers(result.weights));
  check("output", numbers(result.output));
  for (const TraceStep& step : trace.steps()) {
    if (step.id == "scores") {
      check("scores", reshaped(numbers(step.tensor), golden.output("scores").shape));
    }
  }
}

void run_linear(const GoldenCase& golden, GoldenCheck& check) {
  std::optional<NdBool> mask;
  if (golden.has_input("mask")) {
    mask = std::get<NdBool>(golden.mask("mask"));
  }
  check("output", numbers(linear_attention(tensor4(golden.input("q")), tensor4(golden.input("k")),
                                           tensor4(golden.input("v")), golden.flag("causal"), mask,
                                           golden.number("eps"))));
}

std::vector<float> vector_of(const Numbers& values) {
  return {values.data.begin(), values.data.end()};
}

/// Windows, softcap, ALiBi and sinks, all of them options of attention.
void run_attention(const GoldenCase& golden, GoldenCheck& check) {
  AttentionOptions options;
  if (golden.flag("causal")) {
    options.causal = Causal::bottom_right;
  }
  if (golden.has_param("window_left")) {
    options.window_left = static_cast<std::size_t>(golden.number("window_left"));
  }
  if (golden.has_param("softcap")) {
    options.softcap = static_cast<float>(golden.number("softcap"));
  }
  if (golden.has_input("slopes")) {
    options.alibi_slopes = vector_of(golden.input("slopes"));
  }
  if (golden.has_input("sinks")) {
    options.sinks = vector_of(golden.input("sinks"));
  }
  if (golden.has_input("mask")) {
    options.masks.push_back(golden.mask("mask"));
  }
  const auto result = attention(tensor4(golden.input("q")), tensor4(golden.input("k")),
                                tensor4(golden.input("v")), options);
  check("weights", numbers(result.weights));
  check("output", numbers(result.output));
  check("output", numbers(flash_attention(tensor4(golden.input("q")), tensor4(golden.input("k")),
                                          tensor4(golden.input("v")), options)));
}

}  // namespace

TEST_CASE("golden: other forms of attention") {
  using Run = void (*)(const GoldenCase&, GoldenCheck&);
  const std::vector<std::pair<std::string, Run>> runs = {
      {"additive_", run_additive}, {"linear_", run_linear},   {"sliding_window_", run_attention},
      {"softcap_", run_attention}, {"alibi_", run_attention}, {"sinks_", run_attention},
  };
  run_golden("variants", 23, [&](const GoldenCase& golden, GoldenCheck& check) {
    for (const auto& [prefix, run] : runs) {
      if (golden.name.rfind(prefix, 0) == 0) {
        run(golden, check);
        return;
      }
    }
    FAIL_CHECK("no test for this case; write it, or list it in not_yet_covered.json");
  });
}
