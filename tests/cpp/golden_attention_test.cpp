#include "attention.hpp"
#include "catch.hpp"
#include "flash.hpp"
#include "golden.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

AttentionOptions options_of(const GoldenCase& golden, Causal causal) {
  AttentionOptions options;
  options.causal = causal;
  if (golden.has_param("scale")) {
    options.scale = static_cast<float>(golden.number("scale"));
  }
  if (golden.has_input("attn_mask")) {
    options.masks.push_back(golden.mask("attn_mask"));
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
