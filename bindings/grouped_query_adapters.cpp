#include "grouped_query_adapters.hpp"

#include <memory>
#include <string>
#include <utility>

#include "attention_call.hpp"
#include "cached_attention.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "grouped_query.hpp"
#include "kv_cache.hpp"
#include "property.hpp"
#include "registry.hpp"
#include "rms_norm.hpp"
#include "rope_convert.hpp"

namespace softlookup::bindings {

namespace {

Registry<KVCache>& caches() {
  static Registry<KVCache> all("KVCache");
  return all;
}

Registry<GroupedQueryAttention>& grouped_queries() {
  static Registry<GroupedQueryAttention> all("GroupedQueryAttention");
  return all;
}

std::size_t size_or(const val& options, const char* name, std::size_t otherwise) {
  return has(options, name) ? size_in(options, name) : otherwise;
}

GroupedQueryConfig::Bias to_bias(const val& bias) {
  if (bias.isString() && bias.as<std::string>() == "qkv") {
    return GroupedQueryConfig::Bias::qkv;
  }
  return to_flag(bias, false, "bias") ? GroupedQueryConfig::Bias::all
                                      : GroupedQueryConfig::Bias::none;
}

GroupedQueryConfig to_config(const val& in) {
  GroupedQueryConfig config{};
  config.hidden_size = size_in(in, "hiddenSize");
  config.num_heads = size_in(in, "numHeads");
  config.num_kv_heads = size_or(in, "numKvHeads", config.num_heads);
  if (!has(in, "headDim") &&
      (config.num_heads == 0 || config.hidden_size % config.num_heads != 0)) {
    throw Error(ErrorCode::HEADS,
                {"numHeads = ", std::to_string(config.num_heads), " does not divide hiddenSize = ",
                 std::to_string(config.hidden_size), "; name headDim"});
  }
  config.head_dim =
      config.num_heads == 0 ? 0 : size_or(in, "headDim", config.hidden_size / config.num_heads);
  config.bias = to_bias(get(in, "bias"));
  const val norm = get(in, "qkNorm");
  if (norm.isTrue()) {
    config.qk_norm_eps = kRmsNormEps;
  } else if (!norm.isUndefined() && !norm.isFalse()) {
    config.qk_norm_eps = to_double(get(norm, "eps"), kRmsNormEps, "qkNorm.eps");
  }
  if (has(in, "rope") && !get(in, "rope").isFalse()) {
    config.rope = to_rope_options(get(in, "rope"));
  }
  return config;
}

Chunk to_chunk(const val& options) {
  Chunk chunk;
  if (has(options, "lengths")) {
    chunk.lengths = to_sizes(get(options, "lengths"), "lengths");
  }
  chunk.side = to_side(get(options, "side"));
  return chunk;
}

struct GroupedQueryCall {
  Tensor3 x;
  GroupedQueryOptions options;
  std::size_t dropped;

  GroupedQueryCall(const val& x_in, const val& in)
      : x(to_tensor<3>(x_in, "x", 2)), dropped(3 - rank_of(x_in)) {
    options.causal = flag_in(in, "causal", true);
    options.key_mask = optional_mask_in(in, "keyMask");
    if (options.key_mask && dropped == 1) {
      options.key_mask = with_batch_axis(*options.key_mask);
    }
    if (has(in, "cache")) {
      options.cache = &caches().get(get(in, "cache"));
    }
    if (has(in, "positions")) {
      options.positions = to_positions(get(in, "positions"), x.shape(0), x.shape(1));
    }
    options.chunk = to_chunk(in);
  }
};

}  // namespace

val create_kv_cache(const val& size) {
  auto created =
      std::make_unique<KVCache>(KVCache::Size{size_in(size, "batch"), size_in(size, "numKvHeads"),
                                              size_in(size, "headDim"), size_in(size, "capacity")});
  return val(caches().add(std::move(created)));
}

val cache_lengths(const val& handle) {
  const KVCache& cache = caches().get(handle);
  val lengths = val::array();
  for (const std::size_t length : cache.lengths()) {
    lengths.call<void>("push", length);
  }
  val answer = val::object();
  put(answer, "lengths", lengths);
  put(answer, "capacity", cache.size().capacity);
  return answer;
}

val append_to_cache(const val& handle, const val& k, const val& v, const val& options) {
  KVCache& cache = caches().get(handle);
  cache.append(to_tensor<4>(k, "k", 4), to_tensor<4>(v, "v", 4), to_chunk(options));
  return val::undefined();
}

val attend_cached(const val& handle, const val& q, const val& k, const val& v, const val& options) {
  KVCache& cache = caches().get(handle);
  const AttentionCall call(q, k, v, options);
  const bool need_weights = flag_in(options, "needWeights", false);
  const val out = get(options, "out");
  const Tensor4& qs = call.q;
  require_out(out, Shape{qs.shape(0), qs.shape(1), qs.shape(2), call.v.shape(3)});
  const AttentionResult result = cached_attention(call.q, call.k, call.v, call.options, cache,
                                                  to_chunk(options), branch_for(need_weights));
  return attention_answer(from_array_into(out, result.output, call.dropped), need_weights,
                          result.weights, call.dropped);
}

val drop_oldest_of_cache(const val& handle, const val& count) {
  caches().get(handle).drop_oldest(to_size(count, "count"));
  return val::undefined();
}

val reset_cache(const val& handle) {
  caches().get(handle).reset();
  return val::undefined();
}

val grow_cache(const val& handle, const val& capacity) {
  caches().get(handle).grow(to_size(capacity, "capacity"));
  return val::undefined();
}

val free_kv_cache(const val& handle) {
  caches().erase(handle);
  return val::undefined();
}

val create_grouped_query(const val& config) {
  auto created = std::make_unique<GroupedQueryAttention>(to_config(config));
  const GroupedQueryConfig resolved = created->config();
  val answer = val::object();
  put(answer, "hiddenSize", resolved.hidden_size);
  put(answer, "numHeads", resolved.num_heads);
  put(answer, "numKvHeads", resolved.num_kv_heads);
  put(answer, "headDim", resolved.head_dim);
  put(answer, "parameterCount", static_cast<double>(created->parameter_count()));
  put(answer, "handle", grouped_queries().add(std::move(created)));
  return answer;
}

val load_grouped_query(const val& handle, const val& names, const val& tensors) {
  grouped_queries().get(handle).load(to_state_dict(names, tensors));
  return val::undefined();
}

val attend_grouped_query(const val& handle, const val& x, const val& options) {
  const GroupedQueryAttention& module = grouped_queries().get(handle);
  GroupedQueryCall call(x, options);
  const bool need_weights = flag_in(options, "needWeights", false);
  const bool fast = flag_in(options, "fast", true);
  call.options.branch = fast ? branch_for(need_weights) : Branch::plain;
  const auto result = module.forward(call.x, call.options);
  return attention_answer(from_array(result.output, call.dropped), need_weights, result.weights,
                          call.dropped);
}

val trace_grouped_query(const val& handle, const val& x, const val& options) {
  const GroupedQueryAttention& module = grouped_queries().get(handle);
  const GroupedQueryCall call(x, options);
  Trace trace;
  static_cast<void>(module.forward(call.x, call.options, &trace));
  return from_trace(trace, call.dropped);
}

val free_grouped_query(const val& handle) {
  grouped_queries().erase(handle);
  return val::undefined();
}

}  // namespace softlookup::bindings
