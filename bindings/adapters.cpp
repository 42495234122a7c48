#include "adapters.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allocation.hpp"
#include "answer.hpp"
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
#include "random.hpp"
#include "registry.hpp"
#include "softmax.hpp"
#include "statistics.hpp"

namespace softlookup::bindings {

namespace {

double to_count(const Value& object, const char* name) {
  return static_cast<double>(size_in(object, name));
}

std::uint32_t to_seed(const Value& seed) {
  return static_cast<std::uint32_t>(to_size(seed, "seed"));
}

struct SoftmaxCall {
  Tensor4 scores;
  MaskRule rule;
  std::size_t dropped;

  SoftmaxCall(const Value& scores_in, const Value& options)
      : scores(to_tensor<4>(scores_in, "scores", 1)),
        rule(rule_for(scores, options)),
        dropped(4 - rank_of(scores_in)) {}

 private:
  static MaskRule rule_for(const Tensor4& scores, const Value& options) {
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

  MultiHeadCall(const MultiHeadAttention& module, const Value& query_in, const Value& key_in,
                const Value& value_in, const Value& options_in) {
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

std::size_t to_axis(const Value& axis, const NdArray& x) {
  const double number = axis.number();
  const auto rank = static_cast<double>(x.dimension());
  const double from_start = number < 0 ? number + rank : number;
  if (!(from_start >= 0 && from_start < rank) || std::trunc(from_start) != from_start) {
    fail(ErrorCode::OPTION, "axis does not exist in %", {x.shape()});
  }
  return static_cast<std::size_t>(from_start);
}

Replacement to_replacement(const Value& kind) {
  if (kind.is("random")) {
    return Replacement::random;
  }
  if (kind.is("large")) {
    return Replacement::large;
  }
  if (kind.is("permuted")) {
    return Replacement::permuted;
  }
  if (kind.is("nan")) {
    return Replacement::nan;
  }
  fail(ErrorCode::OPTION, "modes: \"%\" is not random, large, permuted or nan",
       {std::string(kind.text())});
}

}  // namespace

void attend(const Value& q, const Value& k, const Value& v, const Value& options) {
  const AttentionCall call(q, k, v, options);
  const bool need_weights = flag_in(options, "needWeights", false);
  const Value& out = options.get("out");
  const Tensor4& qs = call.q;
  require_out(out, Shape{qs.shape(0), qs.shape(1), qs.shape(2), call.v.shape(3)});
  const AttentionResult result =
      softlookup::attend(call.q, call.k, call.v, call.options, branch_for(need_weights));
  give_tensor_into(out, result.output, call.dropped);
  give_with_weights(need_weights, result.weights, call.dropped);
}

void trace_attention(const Value& q, const Value& k, const Value& v, const Value& options) {
  const AttentionCall call(q, k, v, options);
  Trace trace;
  attention(call.q, call.k, call.v, call.options, &trace);
  give_trace(trace, call.dropped);
}

void softmax_of(const Value& scores, const Value& options) {
  SoftmaxCall call(scores, options);
  masked_softmax(call.scores, call.rule, nullptr);
  give_tensor(call.scores, call.dropped);
}

void trace_softmax(const Value& scores, const Value& options) {
  SoftmaxCall call(scores, options);
  Trace trace;
  masked_softmax(call.scores, call.rule, &trace);
  give_trace(trace, call.dropped);
}

void make_causal_mask(const Value& queries, const Value& keys, const Value& alignment) {
  const std::size_t l = to_size(queries, "L");
  const std::size_t s = keys.is_undefined() ? l : to_size(keys, "S");
  const auto aligned = to_alignment(alignment);
  const Causal causal = !aligned                          ? Causal::square
                        : *aligned == Alignment::top_left ? Causal::top_left
                                                          : Causal::bottom_right;
  give_mask(causal_mask(l, s, causal));
}

void make_window_mask(const Value& queries, const Value& keys, const Value& window,
                      const Value& alignment) {
  const std::size_t l = to_size(queries, "L");
  const std::size_t s = keys.is_undefined() ? l : to_size(keys, "S");
  MaskSpec spec;
  spec.alignment = to_alignment(alignment);
  read_window(window, spec);
  give_mask(visibility_mask(l, s, spec));
}

void make_padding_mask(const Value& lengths, const Value& keys, const Value& side) {
  give_mask(padding_mask(to_sizes(lengths, "lengths"), to_size(keys, "S"), to_side(side)));
}

void and_masks(const Value& masks) {
  std::vector<Mask> all;
  const auto count = masks.size();
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(to_mask(masks[i], "mask"));
  }
  give_mask(combine_masks(all));
}

void additive_mask(const Value& mask) { give_tensor(to_additive(to_mask(mask, "mask"))); }

void create_multi_head(const Value& config_in) {
  MultiHeadConfig config{};
  config.embed_dim = size_in(config_in, "embedDim");
  config.num_heads = size_in(config_in, "numHeads");
  const auto width = [&](const char* name) {
    return !config_in.has(name) ? config.embed_dim : size_in(config_in, name);
  };
  config.kdim = width("kdim");
  config.vdim = width("vdim");
  config.bias = flag_in(config_in, "bias", true);
  config.add_bias_kv = flag_in(config_in, "addBiasKv", false);
  config.add_zero_attn = flag_in(config_in, "addZeroAttn", false);

  auto created = std::make_unique<MultiHeadAttention>(config);
  const double parameters = created->parameter_count();
  const Handle handle = multi_heads().add(std::move(created));

  give_size(handle);
  give_size(config.embed_dim);
  give_size(config.num_heads);
  give(config.bias);
  give_size(config.kdim);
  give_size(config.vdim);
  give(config.add_bias_kv);
  give(config.add_zero_attn);
  give_object("embedDim numHeads bias kdim vdim addBiasKv addZeroAttn");
  give(parameters);
  give_object("handle config parameterCount");
}

void load_multi_head(const Value& handle, const Value& names, const Value& tensors) {
  multi_heads().get(handle).load(to_state_dict(names, tensors));
}

void attend_multi_head(const Value& handle, const Value& query, const Value& key,
                       const Value& value, const Value& options) {
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
  give_tensor(result.output, call.dropped);
  give_with_weights(need_weights, weights, call.dropped);
}

void trace_multi_head(const Value& handle, const Value& query, const Value& key, const Value& value,
                      const Value& options) {
  const MultiHeadAttention& module = multi_heads().get(handle);
  const MultiHeadCall call(module, query, key, value, options);
  Trace trace;
  static_cast<void>(module.forward(call.query, call.key, call.value, call.options, &trace));
  give_trace(trace, call.dropped);
}

void free_multi_head(const Value& handle) { multi_heads().erase(handle); }

void split_into_heads(const Value& x, const Value& heads) {
  give_tensor(split_heads(to_tensor<3>(x, "x", 2), to_size(heads, "numHeads")), 3 - rank_of(x));
}

void merge_from_heads(const Value& x) {
  give_tensor(merge_heads(to_tensor<4>(x, "x", 3)), 4 - rank_of(x));
}

void replace_sequence_tokens(const Value& x, const Value& axis, const Value& range,
                             const Value& kind, const Value& magnitude, const Value& seed) {
  const NdArray sequence = to_array(x, "input");
  const auto bounds = to_sizes(range, "range");
  give_tensor(replace_tokens(sequence, to_axis(axis, sequence), bounds[0], bounds[1],
                             to_replacement(kind), static_cast<float>(magnitude.number()),
                             to_seed(seed)));
}

void compare_sequences(const Value& before, const Value& after, const Value& axis,
                       const Value& tolerance) {
  const NdArray first = to_array(before, "output");
  const Moves moves =
      compare_positions(first, to_array(after, "output"), to_axis(axis, first), tolerance.number());
  for (const std::uint8_t flag : moves.moved) {
    give(flag != 0);
  }
  give_list(moves.moved.size());
  for (const double distance : moves.distance) {
    give(distance);
  }
  give_list(moves.distance.size());
  give_object("moved distance");
}

void names_of_faults() {
  const auto names = fault_names();
  for (const std::string& name : names) {
    give(std::string_view(name));
  }
  give_list(names.size());
}

void attend_with_fault(const Value& fault, const Value& q, const Value& k, const Value& v) {
  const AttentionCall call(q, k, v);
  give_tensor(faulty_attention(std::string(fault.text()), call.q, call.k, call.v), call.dropped);
}

void trace_softmax_then_mask(const Value& scores, const Value& options) {
  SoftmaxCall call(scores, options);
  Trace trace;
  softmax_then_mask(call.scores, call.rule, &trace);
  give_trace(trace, call.dropped);
}

void sum_rows(const Value& x) { give_tensor(row_sums(to_array(x, "x"))); }

void entropies_of_rows(const Value& x) { give_tensor(row_entropies(to_array(x, "x"))); }

void exponent_of_growth(const Value& sizes, const Value& values) {
  give(growth_exponent(to_array(sizes, "sizes"), to_array(values, "values")));
}

void normal_numbers(const Value& shape_in, const Value& seed) {
  const auto shape = to_sizes(shape_in, "shape");
  require_addressable(shape, "shape");
  NdArray array = NdArray::from_shape(shape);
  NormalNumbers random(to_seed(seed));
  for (float& value : array) {
    value = static_cast<float>(random.next());
  }
  give_tensor(array);
}

void moments_of(const Value& x) {
  const Moments result = moments(to_array(x, "x"));
  give(result.mean);
  give(result.variance);
  give(result.variance_unbiased);
  give_object("mean variance varianceUnbiased");
}

void theory_of_dot_products(const Value& head_dim, const Value& samples) {
  const DotProductMoments theory =
      dot_product_moments(static_cast<double>(to_size(head_dim, "headDim")),
                          static_cast<double>(to_size(samples, "samples")));
  give(theory.variance);
  give(theory.standard_deviation);
  give(theory.variance_scaled);
  give(theory.kurtosis);
  give(theory.relative_standard_error);
  give_object("variance standardDeviation varianceScaled kurtosis relativeStandardError");
}

void count_parameters(const Value& layer_in) {
  LayerSize layer{};
  layer.model_dim = to_count(layer_in, "modelDim");
  layer.num_heads = to_count(layer_in, "numHeads");
  const auto or_else = [&](const char* name, double otherwise) {
    return !layer_in.has(name) ? otherwise : to_count(layer_in, name);
  };
  layer.num_kv_heads = or_else("numKvHeads", layer.num_heads);
  layer.head_dim = or_else("headDim", head_dim_of(layer));
  layer.bias = flag_in(layer_in, "bias", false);
  layer.qk_norm = flag_in(layer_in, "qkNorm", false);
  const AttentionParameters count = attention_parameters(layer);
  give(count.query);
  give(count.key);
  give(count.value);
  give(count.output);
  give(count.norms);
  give(count.total);
  give_object("query key value output norms total");
}

void count_score_memory(const Value& size) {
  const double elements =
      score_elements(to_count(size, "length"), to_count(size, "numHeads"), to_count(size, "batch"));
  give(elements);
  give(elements * to_count(size, "bytesPerElement"));
  give_object("elements bytes");
}

void count_kv_cache_memory(const Value& size) {
  const double elements = kv_cache_elements(to_count(size, "length"), to_count(size, "layers"),
                                            to_count(size, "numKvHeads"), to_count(size, "headDim"),
                                            to_count(size, "batch"));
  give(elements * to_count(size, "bytesPerElement"));
  give_object("bytes");
}

void count_operations(const Value& size) {
  const Operations count =
      sequence_operations(to_count(size, "length"), to_count(size, "modelDim"));
  give(count.qkv_projection);
  give(count.output_projection);
  give(count.scores);
  give(count.weighted_sum);
  give(count.attention);
  give(count.total);
  give(count.attention_share);
  give_object("qkvProjection outputProjection scores weightedSum attention total attentionShare");
}

void count_decode_operations(const Value& size) {
  const DecodeOperations count =
      decode_operations(to_count(size, "length"), to_count(size, "modelDim"));
  give(count.projection);
  give(count.attention);
  give(count.total);
  give_object("projection attention total");
}

void memory_usage() {
  constexpr double kPage = 65536;
  give_size(live_objects);
  give_size(allocated_bytes());
  give(static_cast<double>(__builtin_wasm_memory_size(0)) * kPage);
  give_object("objects allocated total");
}

}  // namespace softlookup::bindings
