#include "adapters.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocation.hpp"
#include "attention.hpp"
#include "attention_call.hpp"
#include "causality.hpp"
#include "convert.hpp"
#include "cost.hpp"
#include "error.hpp"
#include "faulty.hpp"
#include "flash.hpp"
#include "heads.hpp"
#include "mask_array.hpp"
#include "multi_head.hpp"
#include "property.hpp"
#include "random.hpp"
#include "registry.hpp"
#include "softmax.hpp"
#include "statistics.hpp"

namespace softlookup::bindings {

namespace {

/// An object of numbers.
val numbers(std::initializer_list<std::pair<const char*, double>> entries) {
  val object = val::object();
  for (const auto& [name, number] : entries) {
    put(object, name, number);
  }
  return object;
}

double to_count(const val& object, const char* name) {
  return static_cast<double>(size_in(object, name));
}

std::uint32_t to_seed(const val& seed) { return static_cast<std::uint32_t>(to_size(seed, "seed")); }

struct SoftmaxCall {
  Tensor4 scores;
  MaskRule rule;
  std::size_t dropped;

  SoftmaxCall(const val& scores_in, const val& options)
      : scores(to_tensor<4>(scores_in, "scores", 1)),
        rule(rule_for(scores, options)),
        dropped(4 - rank_of(scores_in)) {}

 private:
  static MaskRule rule_for(const Tensor4& scores, const val& options) {
    std::vector<Mask> masks;
    if (auto mask = optional_mask_in(options, "mask")) {
      masks.push_back(std::move(*mask));
    }
    const auto& shape = scores.shape();
    return {std::move(masks), causal_in(options),
            ScoreShape{shape[0], shape[1], shape[2], shape[3]}};
  }
};

Registry<MultiHeadAttention>& multi_heads() {
  static Registry<MultiHeadAttention> all("MultiHeadAttention");
  return all;
}

struct MultiHeadCall {
  Tensor3 query, key, value;
  MultiHeadOptions options;
  std::size_t dropped;

  MultiHeadCall(const MultiHeadAttention& module, const val& query_in, const val& key_in,
                const val& value_in, const val& options_in) {
    module.require_shapes(to_shape(query_in, "query"), to_shape(key_in, "key"),
                          to_shape(value_in, "value"));
    query = to_tensor<3>(query_in, "query", 2);
    key = to_tensor<3>(key_in, "key", 2);
    value = to_tensor<3>(value_in, "value", 2);
    dropped = 3 - rank_of(query_in);
    if (auto mask = optional_mask_in(options_in, "mask")) {
      options.masks.push_back(std::move(*mask));
    }
    options.key_mask = optional_mask_in(options_in, "keyMask");
    if (options.key_mask && dropped == 1) {
      options.key_mask = with_batch_axis(*options.key_mask);
    }
    options.causal = causal_in(options_in);
  }
};

std::size_t to_axis(const val& axis, const NdArray& x) {
  const double number = axis.isNumber() ? axis.as<double>() : std::nan("");
  const auto rank = static_cast<double>(x.dimension());
  const double from_start = number < 0 ? number + rank : number;
  if (!(from_start >= 0 && from_start < rank) || std::trunc(from_start) != from_start) {
    throw Error(ErrorCode::OPTION, {"axis does not exist in ", shape_text(x.shape())});
  }
  return static_cast<std::size_t>(from_start);
}

Replacement to_replacement(const val& kind) {
  const auto name = kind.as<std::string>();
  if (name == "random") {
    return Replacement::random;
  }
  if (name == "large") {
    return Replacement::large;
  }
  if (name == "permuted") {
    return Replacement::permuted;
  }
  if (name == "nan") {
    return Replacement::nan;
  }
  throw Error(ErrorCode::OPTION, {"modes: \"", name, "\" is not random, large, permuted or nan"});
}

}  // namespace

val attend(const val& q, const val& k, const val& v, const val& options) {
  const AttentionCall call(q, k, v, options);
  const bool need_weights = flag_in(options, "needWeights", false);
  const val out = get(options, "out");
  const Tensor4& qs = call.q;
  require_out(out, Shape{qs.shape(0), qs.shape(1), qs.shape(2), call.v.shape(3)});
  const AttentionResult result =
      softlookup::attend(call.q, call.k, call.v, call.options, branch_for(need_weights));
  return attention_answer(from_array_into(out, result.output, call.dropped), need_weights,
                          result.weights, call.dropped);
}

val trace_attention(const val& q, const val& k, const val& v, const val& options) {
  const AttentionCall call(q, k, v, options);
  Trace trace;
  attention(call.q, call.k, call.v, call.options, &trace);
  return from_trace(trace, call.dropped);
}

val softmax_of(const val& scores, const val& options) {
  SoftmaxCall call(scores, options);
  masked_softmax(call.scores, call.rule, nullptr);
  return from_array(call.scores, call.dropped);
}

val trace_softmax(const val& scores, const val& options) {
  SoftmaxCall call(scores, options);
  Trace trace;
  masked_softmax(call.scores, call.rule, &trace);
  return from_trace(trace, call.dropped);
}

val make_causal_mask(const val& queries, const val& keys, const val& alignment) {
  const std::size_t l = to_size(queries, "L");
  const std::size_t s = keys.isUndefined() ? l : to_size(keys, "S");
  const auto aligned = to_alignment(alignment);
  const Causal causal = !aligned                          ? Causal::square
                        : *aligned == Alignment::top_left ? Causal::top_left
                                                          : Causal::bottom_right;
  return from_mask(causal_mask(l, s, causal));
}

val make_window_mask(const val& queries, const val& keys, const val& window, const val& alignment) {
  const std::size_t l = to_size(queries, "L");
  const std::size_t s = keys.isUndefined() ? l : to_size(keys, "S");
  MaskSpec spec;
  spec.alignment = to_alignment(alignment);
  read_window(window, spec);
  return from_mask(visibility_mask(l, s, spec));
}

val make_padding_mask(const val& lengths, const val& keys, const val& side) {
  return from_mask(padding_mask(to_sizes(lengths, "lengths"), to_size(keys, "S"), to_side(side)));
}

val and_masks(const val& masks) {
  std::vector<Mask> all;
  const auto count = get(masks, "length").as<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(to_mask(masks[i], "mask"));
  }
  return from_mask(combine_masks(all));
}

val additive_mask(const val& mask) { return from_array(to_additive(to_mask(mask, "mask"))); }

val create_multi_head(const val& config_in) {
  MultiHeadConfig config{};
  config.embed_dim = size_in(config_in, "embedDim");
  config.num_heads = size_in(config_in, "numHeads");
  const auto width = [&](const char* name) {
    return !has(config_in, name) ? config.embed_dim : size_in(config_in, name);
  };
  config.kdim = width("kdim");
  config.vdim = width("vdim");
  config.bias = flag_in(config_in, "bias", true);
  config.add_bias_kv = flag_in(config_in, "addBiasKv", false);
  config.add_zero_attn = flag_in(config_in, "addZeroAttn", false);

  auto created = std::make_unique<MultiHeadAttention>(config);
  const auto parameters = static_cast<double>(created->parameter_count());
  const Handle handle = multi_heads().add(std::move(created));

  val resolved = val::object();
  put(resolved, "embedDim", config.embed_dim);
  put(resolved, "numHeads", config.num_heads);
  put(resolved, "bias", val(config.bias));
  put(resolved, "kdim", config.kdim);
  put(resolved, "vdim", config.vdim);
  put(resolved, "addBiasKv", val(config.add_bias_kv));
  put(resolved, "addZeroAttn", val(config.add_zero_attn));
  val answer = val::object();
  put(answer, "handle", handle);
  put(answer, "config", resolved);
  put(answer, "parameterCount", parameters);
  return answer;
}

val load_multi_head(const val& handle, const val& names, const val& tensors) {
  multi_heads().get(handle).load(to_state_dict(names, tensors));
  return val::undefined();
}

val attend_multi_head(const val& handle, const val& query, const val& key, const val& value,
                      const val& options) {
  const MultiHeadAttention& module = multi_heads().get(handle);
  MultiHeadCall call(module, query, key, value, options);
  const bool need_weights = flag_in(options, "needWeights", false);
  call.options.branch = branch_for(need_weights);
  const bool average = flag_in(options, "averageWeights", true);
  const auto result =
      flag_in(options, "headByHead", false)
          ? module.forward_head_by_head(call.query, call.key, call.value, call.options)
          : module.forward(call.query, call.key, call.value, call.options);
  const NdArray weights =
      need_weights && average ? NdArray(average_heads(result.weights)) : NdArray(result.weights);
  return attention_answer(from_array(result.output, call.dropped), need_weights, weights,
                          call.dropped);
}

val trace_multi_head(const val& handle, const val& query, const val& key, const val& value,
                     const val& options) {
  const MultiHeadAttention& module = multi_heads().get(handle);
  const MultiHeadCall call(module, query, key, value, options);
  Trace trace;
  static_cast<void>(module.forward(call.query, call.key, call.value, call.options, &trace));
  return from_trace(trace, call.dropped);
}

val free_multi_head(const val& handle) {
  multi_heads().erase(handle);
  return val::undefined();
}

val split_into_heads(const val& x, const val& heads) {
  return from_array(split_heads(to_tensor<3>(x, "x", 2), to_size(heads, "numHeads")),
                    3 - rank_of(x));
}

val merge_from_heads(const val& x) {
  return from_array(merge_heads(to_tensor<4>(x, "x", 3)), 4 - rank_of(x));
}

val replace_sequence_tokens(const val& x, const val& axis, const val& range, const val& kind,
                            const val& magnitude, const val& seed) {
  const NdArray sequence = to_array(x, "input");
  const auto bounds = to_sizes(range, "range");
  return from_array(replace_tokens(sequence, to_axis(axis, sequence), bounds[0], bounds[1],
                                   to_replacement(kind), magnitude.as<float>(), to_seed(seed)));
}

val compare_sequences(const val& before, const val& after, const val& axis, const val& tolerance) {
  const NdArray first = to_array(before, "output");
  const Moves moves = compare_positions(first, to_array(after, "output"), to_axis(axis, first),
                                        tolerance.as<double>());
  val moved = val::array();
  for (const std::uint8_t flag : moves.moved) {
    moved.call<void>("push", flag != 0);
  }
  val answer = val::object();
  put(answer, "moved", moved);
  put(answer, "distance", val::array(moves.distance));
  return answer;
}

val names_of_faults() { return val::array(fault_names()); }

val attend_with_fault(const val& fault, const val& q, const val& k, const val& v) {
  const AttentionCall call(q, k, v);
  return from_array(
      faulty_attention(fault.isString() ? fault.as<std::string>() : "", call.q, call.k, call.v),
      call.dropped);
}

val trace_softmax_then_mask(const val& scores, const val& options) {
  SoftmaxCall call(scores, options);
  Trace trace;
  softmax_then_mask(call.scores, call.rule, &trace);
  return from_trace(trace, call.dropped);
}

val sum_rows(const val& x) { return from_array(row_sums(to_array(x, "x"))); }

val entropies_of_rows(const val& x) { return from_array(row_entropies(to_array(x, "x"))); }

val exponent_of_growth(const val& sizes, const val& values) {
  return val(growth_exponent(to_array(sizes, "sizes"), to_array(values, "values")));
}

val normal_numbers(const val& shape_in, const val& seed) {
  const auto shape = to_sizes(shape_in, "shape");
  require_addressable(shape, "shape");
  NdArray array = NdArray::from_shape(shape);
  NormalNumbers random(to_seed(seed));
  for (float& value : array) {
    value = static_cast<float>(random.next());
  }
  return from_array(array);
}

val moments_of(const val& x) {
  const Moments result = moments(to_array(x, "x"));
  return numbers({{"mean", result.mean},
                  {"variance", result.variance},
                  {"varianceUnbiased", result.variance_unbiased}});
}

val theory_of_dot_products(const val& head_dim, const val& samples) {
  const DotProductMoments theory =
      dot_product_moments(static_cast<double>(to_size(head_dim, "headDim")),
                          static_cast<double>(to_size(samples, "samples")));
  return numbers({{"variance", theory.variance},
                  {"standardDeviation", theory.standard_deviation},
                  {"varianceScaled", theory.variance_scaled},
                  {"kurtosis", theory.kurtosis},
                  {"relativeStandardError", theory.relative_standard_error}});
}

val count_parameters(const val& layer_in) {
  LayerSize layer{};
  layer.model_dim = to_count(layer_in, "modelDim");
  layer.num_heads = to_count(layer_in, "numHeads");
  const auto or_else = [&](const char* name, double otherwise) {
    return !has(layer_in, name) ? otherwise : to_count(layer_in, name);
  };
  layer.num_kv_heads = or_else("numKvHeads", layer.num_heads);
  layer.head_dim = or_else("headDim", head_dim_of(layer));
  layer.bias = flag_in(layer_in, "bias", false);
  layer.qk_norm = flag_in(layer_in, "qkNorm", false);
  const AttentionParameters count = attention_parameters(layer);
  return numbers({{"query", count.query},
                  {"key", count.key},
                  {"value", count.value},
                  {"output", count.output},
                  {"norms", count.norms},
                  {"total", count.total}});
}

val count_score_memory(const val& size) {
  const double elements =
      score_elements(to_count(size, "length"), to_count(size, "numHeads"), to_count(size, "batch"));
  return numbers({{"elements", elements}, {"bytes", elements * to_count(size, "bytesPerElement")}});
}

val count_kv_cache_memory(const val& size) {
  const double elements = kv_cache_elements(to_count(size, "length"), to_count(size, "layers"),
                                            to_count(size, "numKvHeads"), to_count(size, "headDim"),
                                            to_count(size, "batch"));
  return numbers({{"bytes", elements * to_count(size, "bytesPerElement")}});
}

val count_operations(const val& size) {
  const Operations count =
      sequence_operations(to_count(size, "length"), to_count(size, "modelDim"));
  return numbers({{"qkvProjection", count.qkv_projection},
                  {"outputProjection", count.output_projection},
                  {"scores", count.scores},
                  {"weightedSum", count.weighted_sum},
                  {"attention", count.attention},
                  {"total", count.total},
                  {"attentionShare", count.attention_share}});
}

val count_decode_operations(const val& size) {
  const DecodeOperations count =
      decode_operations(to_count(size, "length"), to_count(size, "modelDim"));
  return numbers(
      {{"projection", count.projection}, {"attention", count.attention}, {"total", count.total}});
}

val memory_usage() {
  constexpr double kPage = 65536;
  return numbers({{"objects", static_cast<double>(live_objects)},
                  {"allocated", static_cast<double>(allocated_bytes())},
                  {"total", static_cast<double>(__builtin_wasm_memory_size(0)) * kPage}});
}

}  // namespace softlookup::bindings
