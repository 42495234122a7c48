#include <variant>

#include "catch.hpp"
#include "golden.hpp"
#include "multi_head.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

constexpr const char* kParameters[] = {"in_proj_weight",  "in_proj_bias",  "q_proj_weight",
                                       "k_proj_weight",   "v_proj_weight", "bias_k",
                                       "out_proj.weight", "bias_v",        "out_proj.bias"};

/// torch's module says true = left out, the core true = may attend.
Mask inverted(Mask mask) {
  if (auto* array = std::get_if<NdBool>(&mask)) {
    for (std::uint8_t& element : *array) {
      element = element == 0 ? 1 : 0;
    }
  }
  return mask;
}

Mask reshaped_mask(Mask mask, const Shape& shape) {
  std::visit([&](auto& array) { array.reshape(shape); }, mask);
  return mask;
}

MultiHeadAttention module_of(const GoldenCase& golden) {
  const auto size = [&](const char* name) {
    return static_cast<std::size_t>(golden.number(golden.has_param(name) ? name : "embed_dim"));
  };
  MultiHeadAttention module({size("embed_dim"), size("num_heads"), size("kdim"), size("vdim"),
                             golden.flag("bias"), golden.flag("add_bias_kv"),
                             golden.flag("add_zero_attn")});
  StateDict state;
  for (const char* name : kParameters) {
    if (golden.has_input(name)) {
      const Numbers& values = golden.input(name);
      state[name] =
          nd_array(values.shape, std::vector<float>(values.data.begin(), values.data.end()));
    }
  }
  module.load(state);
  return module;
}

void run_multi_head(const GoldenCase& golden, GoldenCheck& check) {
  const bool swapped = !golden.flag("batch_first");
  const auto batch_first = [&](const Numbers& x) { return swapped ? first_axes_swapped(x) : x; };
  const auto input = [&](const std::string& name, const Tensor3& otherwise) {
    return golden.has_input(name) ? tensor3(batch_first(golden.input(name))) : otherwise;
  };
  const Tensor3 query = tensor3(batch_first(golden.input("query")));
  const Tensor3 key = input("key", query);
  const Tensor3 value = input("value", key);

  const std::size_t batch = query.shape(0), length = query.shape(1), keys = key.shape(1);
  const auto heads = static_cast<std::size_t>(golden.number("num_heads"));
  MultiHeadOptions options;
  if (golden.has_input("attn_mask")) {
    Mask mask = inverted(golden.mask("attn_mask"));
    if (golden.input("attn_mask").shape.size() == 3) {
      mask = reshaped_mask(mask, {batch, heads, length, keys});
    }
    options.masks.push_back(mask);
  }
  if (golden.has_input("key_padding_mask")) {
    options.key_mask = inverted(golden.mask("key_padding_mask"));
  }

  const auto result = module_of(golden).forward(query, key, value, options);
  check("output", batch_first(numbers(result.output)));
  check("weights", golden.flag("average_attn_weights") ? numbers(average_heads(result.weights))
                                                       : numbers(result.weights));
  options.branch = Branch::fast;
  check("output",
        batch_first(numbers(module_of(golden).forward(query, key, value, options).output)));
}

}  // namespace

TEST_CASE("golden: torch's MultiheadAttention") { run_golden("mha", 24, run_multi_head); }
