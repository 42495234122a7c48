#include <cmath>
#include <stdexcept>
#include <utility>

#include "attention.hpp"
#include "catch.hpp"
#include "cost.hpp"
#include "faulty.hpp"
#include "golden.hpp"
#include "multi_head.hpp"
#include "softmax.hpp"
#include "statistics.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

Numbers scalar(double value) { return list({value}); }

Numbers row_sums_of(const Tensor4& weights) { return numbers(row_sums(NdArray(weights))); }

NdArray step(const Trace& trace, const std::string& id) {
  for (const TraceStep& step : trace.steps()) {
    if (step.id == id) {
      return step.tensor;
    }
  }
  throw std::logic_error("no pass called " + id);
}

/// The course takes exp(s), softmax exp(s - m): each row times exp(m).
Numbers without_shift(const NdArray& exponentials, const NdArray& row_max) {
  Numbers x = numbers(exponentials);
  const std::size_t width = x.data.size() / row_max.size();
  for (std::size_t n = 0; n < x.data.size(); ++n) {
    x.data[n] *= std::exp(static_cast<double>(row_max.data()[n / width]));
  }
  return x;
}

MaskRule rule_for(const Tensor4& scores, std::vector<Mask> masks, Causal causal = Causal::none) {
  return {std::move(masks),
          causal,
          {scores.shape(0), scores.shape(1), scores.shape(2), scores.shape(3)}};
}

void run_toy(const GoldenCase& golden, GoldenCheck& check) {
  AttentionOptions options;
  if (golden.has_param("scale")) {
    options.scale = static_cast<float>(golden.number("scale"));
  }
  if (golden.has_param("is_causal") && golden.flag("is_causal")) {
    options.causal = Causal::square;
  }
  if (golden.has_input("key_mask")) {
    options.masks.push_back(golden.mask("key_mask"));
  }
  Trace trace;
  const auto result = attention(tensor4(golden.input("Q")), tensor4(golden.input("K")),
                                tensor4(golden.input("V")), options, &trace);
  check("weights", numbers(result.weights));
  check("output", numbers(result.output));
  if (golden.name == "toy_full") {
    check("qk", numbers(step(trace, "scores")));
    check("scaled", numbers(step(trace, "scaled")));
    check("exp", without_shift(step(trace, "exp"), step(trace, "rowMax")));
    check("row_sum_exp", without_shift(step(trace, "rowSum"), step(trace, "rowMax")));
    check("row_sums", row_sums_of(result.weights));
  }
  if (golden.name == "toy_causal") {
    check("masked", numbers(step(trace, "masked")));
  }
}

void run_row(const GoldenCase& golden, GoldenCheck& check) {
  const Tensor4 logits = tensor4(golden.input("logits"));
  std::vector<Mask> masks;
  if (golden.has_param("additive")) {  // that number where the mask is false
    NdArray additive = xt::zeros<float>(golden.input("mask").shape);
    for (std::size_t j = 0; j < additive.size(); ++j) {
      additive(j) =
          golden.input("mask").data[j] != 0 ? 0.0F : static_cast<float>(golden.number("additive"));
    }
    masks.emplace_back(additive);
  } else if (golden.has_input("mask")) {
    masks.push_back(golden.mask("mask"));
  }
  const MaskRule rule = rule_for(logits, masks);

  if (golden.name == "padding_row_wrong") {
    Tensor4 wrong = logits;
    softmax_then_mask(wrong, rule);
    const double sum = row_sums_of(wrong).data.at(0);
    check("wrong_weights", numbers(wrong));
    check("wrong_row_sum", scalar(sum));
    check("lost", scalar(1 - sum));
    check("renormalised", numbers(Tensor4(wrong / static_cast<float>(sum))));
    return;
  }
  Trace trace;
  Tensor4 weights = logits;
  masked_softmax(weights, rule, &trace);
  check("weights", numbers(weights));
  if (golden.name == "padding_row") {
    check("masked", numbers(step(trace, "masked")));
    check("row_sum", row_sums_of(weights));
    Tensor4 open = logits;
    masked_softmax(open, rule_for(logits, {}), nullptr);
    check("full_softmax", numbers(open));
  }
  if (golden.name == "fully_masked_row") {
    check.not_ours("naive");  // the NaN of a softmax without a guard
  }
}

void run_causal_wrong(const GoldenCase& golden, GoldenCheck& check) {
  const Tensor4 q = tensor4(golden.input("Q")), k = tensor4(golden.input("K"));
  const Tensor4 v = tensor4(golden.input("V"));
  Trace trace;
  attention(q, k, v, {}, &trace);
  Tensor4 weights = step(trace, "scaled");
  const MaskRule rule = rule_for(weights, {}, Causal::square);
  softmax_then_mask(weights, rule);
  check("wrong_weights", numbers(weights));
  check("wrong_row_sums", row_sums_of(weights));
  check("wrong_output", numbers(weighted_sum(weights, v, rule)));
  check("wrong_output", numbers(faulty_attention("mask-after-softmax", q, k, v)));
}

void run_variance_theory(const GoldenCase& golden, GoldenCheck& check) {
  std::map<std::string, Numbers> columns;
  for (const double d : golden.params.at("d_k")) {
    const auto theory = dot_product_moments(d, golden.number("samples"));
    columns["variance"].data.push_back(theory.variance);
    columns["std"].data.push_back(theory.standard_deviation);
    columns["variance_scaled"].data.push_back(theory.variance_scaled);
    columns["kurtosis"].data.push_back(theory.kurtosis);
    columns["relative_standard_error"].data.push_back(theory.relative_standard_error);
  }
  for (auto& [name, column] : columns) {
    column.shape = {column.data.size()};
    check(name, column);
  }
}

void run_variance_sample(const GoldenCase& golden, GoldenCheck& check) {
  const auto samples = static_cast<std::size_t>(golden.number("samples"));
  const auto d = static_cast<std::size_t>(golden.number("d_k"));
  // each pair a batch row of one query and one key
  const Tensor4 q = tensor4(reshaped(golden.input("q"), {samples, 1, 1, d}));
  const Tensor4 k = tensor4(reshaped(golden.input("k"), {samples, 1, 1, d}));
  const NdArray dots = dot_products(q, k);
  check("dots", reshaped(numbers(dots), {samples}));
  const Moments found = moments(dots);
  check("mean", scalar(found.mean));
  check("variance", scalar(found.variance));
  check("variance_unbiased", scalar(found.variance_unbiased));
  Trace trace;
  attention(q, k, k, {}, &trace);
  check("variance_scaled", scalar(moments(step(trace, "scaled")).variance));
}

/// Every vector of d entries +1 or -1: [1, 1, 2^d, d].
Tensor4 all_signs(std::size_t d) {
  const std::size_t count = std::size_t{1} << d;
  Tensor4 signs = Tensor4::from_shape({1, 1, count, d});
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t e = 0; e < d; ++e) {
      signs(0, 0, n, e) = (n >> e) % 2 == 0 ? 1.0F : -1.0F;
    }
  }
  return signs;
}

void run_variance_signs(const GoldenCase& golden, GoldenCheck& check) {
  Numbers variances;
  for (const double d : golden.params.at("d_k")) {
    const Tensor4 signs = all_signs(static_cast<std::size_t>(d));
    variances.data.push_back(moments(NdArray(dot_products(signs, signs))).variance);
  }
  variances.shape = {variances.data.size()};
  check("variance", variances);
}

double parameters_of_module(std::size_t d, std::size_t heads, bool bias) {
  const MultiHeadAttention module({d, heads, d, d, bias, false, false});
  return static_cast<double>(module.parameter_count());
}

void run_parameters(const GoldenCase& golden, GoldenCheck& check) {
  const double d = golden.number(golden.has_param("d_model") ? "d_model" : "hidden_size");
  const double heads = golden.number("heads"), d_head = golden.number("d_head");
  const double kv_heads = golden.has_param("kv_heads") ? golden.number("kv_heads") : heads;
  const bool minimind = golden.name == "parameters_minimind";
  const auto count = attention_parameters({d, heads, kv_heads, d_head, false, minimind});
  check("out", scalar(count.output));
  check("total", scalar(count.total));
  if (golden.has_param("kv_heads")) {
    check("q", scalar(count.query));
    check("k", scalar(count.key));
    check("v", scalar(count.value));
  } else {
    const auto one_head = attention_parameters({d, 1, 1, d_head, false, false});
    const auto with_bias = attention_parameters({d, heads, heads, d_head, true, false});
    check("qkv", scalar(count.query + count.key + count.value));
    check("per_head_qkv", scalar(one_head.query + one_head.key + one_head.value));
    check("total_with_bias", scalar(with_bias.total));
    check("d_head", scalar(d / heads));
    const auto d_whole = static_cast<std::size_t>(d), h_whole = static_cast<std::size_t>(heads);
    check("total", scalar(parameters_of_module(d_whole, h_whole, false)));
    check("total_with_bias", scalar(parameters_of_module(d_whole, h_whole, true)));
  }
  if (minimind) {
    check("norms", scalar(count.norms));
  }
}

void check_bytes(double elements, const GoldenCase& golden, GoldenCheck& check) {
  const double bytes = elements * golden.number("bytes_per_element");
  check("bytes", scalar(bytes));
  check("mib", scalar(bytes / (1024.0 * 1024.0)));
}

void run_memory(const GoldenCase& golden, GoldenCheck& check) {
  const double elements =
      score_elements(golden.number("n"), golden.number("heads"), golden.number("batch"));
  check("elements", scalar(elements));
  check_bytes(elements, golden, check);
}

void run_kv_cache(const GoldenCase& golden, GoldenCheck& check) {
  check_bytes(
      kv_cache_elements(golden.number("n"), golden.number("layers"), golden.number("kv_heads"),
                        golden.number("d_head"), golden.number("batch")),
      golden, check);
}

void run_flops(const GoldenCase& golden, GoldenCheck& check) {
  const double n = golden.number("n"), d = golden.number("d_model");
  if (golden.name == "flops_decode_step") {
    const DecodeOperations count = decode_operations(n, d);
    check("projection", scalar(count.projection));
    check("attention", scalar(count.attention));
    check("total", scalar(count.total));
    return;
  }
  const Operations count = sequence_operations(n, d);
  check("qkv_projection", scalar(count.qkv_projection));
  check("out_projection", scalar(count.output_projection));
  check("scores", scalar(count.scores));
  check("weighted_sum", scalar(count.weighted_sum));
  check("attention", scalar(count.attention));
  check("total", scalar(count.total));
  check("share_attention", scalar(count.attention_share));
}

}  // namespace

TEST_CASE("golden: the course's worked numbers") {
  using Run = void (*)(const GoldenCase&, GoldenCheck&);
  const std::vector<std::pair<std::string, Run>> runs = {
      {"toy_", run_toy},
      {"padding_row", run_row},
      {"softmax_shift", run_row},
      {"fully_masked_row", run_row},
      {"causal_wrong", run_causal_wrong},
      {"variance_theory", run_variance_theory},
      {"variance_sample_", run_variance_sample},
      {"variance_signs", run_variance_signs},
      {"parameters_", run_parameters},
      {"memory_", run_memory},
      {"kv_cache_", run_kv_cache},
      {"flops_", run_flops},
  };
  run_golden("course", 37, [&](const GoldenCase& golden, GoldenCheck& check) {
    for (const auto& [prefix, run] : runs) {
      if (golden.name.rfind(prefix, 0) == 0) {
        run(golden, check);
        return;
      }
    }
    FAIL_CHECK("no test for this case; write it, or list it in not_yet_covered.json");
  });
}
