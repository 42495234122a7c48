#include "grouped_query_adapters.hpp"

#include <memory>
#include <string>
#include <utility>

#include "answer.hpp"
#include "attention_call.hpp"
#include "cached_attention.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "grouped_query.hpp"
#include "kv_cache.hpp"
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

std::size_t size_or(const Value& options, const char* name, std::size_t otherwise) {
  return options.has(name) ? size_in(options, name) : otherwise;
}

GroupedQueryConfig::Bias to_bias(const Value& bias) {
  if (bias.is("qkv")) {
    return GroupedQueryConfig::Bias::qkv;
  }
  return to_flag(bias, false, "bias") ? GroupedQueryConfig::Bias::all
                                      : GroupedQueryConfig::Bias::none;
}

GroupedQueryConfig to_config(const Value& in) {
  GroupedQueryConfig config{};
  config.hidden_size = size_in(in, "hiddenSize");
  config.num_heads = size_in(in, "numHeads");
  config.num_kv_heads = size_or(in, "numKvHeads", config.num_heads);
  if (!in.has("headDim") && (config.num_heads == 0 || config.hidden_size % config.num_heads != 0)) {
    fail(ErrorCode::HEADS, "numHeads = % does not divide hiddenSize = %; name headDim",
         {config.num_heads, config.hidden_size});
  }
  config.head_dim =
      config.num_heads == 0 ? 0 : size_or(in, "headDim", config.hidden_size / config.num_heads);
  config.bias = to_bias(in.get("bias"));
  const Value& norm = in.get("qkNorm");
  if (norm.is_true()) {
    config.qk_norm_eps = kRmsNormEps;
  } else if (!norm.is_undefined() && !norm.is_false()) {
    config.qk_norm_eps = to_double(norm.get("eps"), kRmsNormEps, "qkNorm.eps");
  }
  if (in.has("rope") && !in.get("rope").is_false()) {
    config.rope = to_rope_options(in.get("rope"));
  }
  return config;
}

Chunk to_chunk(const Value& options) {
  Chunk chunk;
  if (options.has("lengths")) {
    chunk.lengths = to_sizes(options.get("lengths"), "lengths");
  }
  chunk.side = to_side(options.get("side"));
  return chunk;
}

struct GroupedQueryCall {
  Tensor3 x;
  GroupedQueryOptions options;
  std::size_t dropped;

  GroupedQueryCall(const Value& x_in, const Value& in)
      : x(to_tensor<3>(x_in, "x", 2)), dropped(3 - rank_of(x_in)) {
    options.causal = flag_in(in, "causal", true);
    options.key_mask = optional_mask_in(in, "keyMask");
    if (options.key_mask && dropped == 1) {
      options.key_mask = with_batch_axis(*options.key_mask);
    }
    if (in.has("cache")) {
      options.cache = &caches().get(in.get("cache"));
    }
    if (in.has("positions")) {
      options.positions = to_positions(in.get("positions"), x.shape(0), x.shape(1));
    }
    options.chunk = to_chunk(in);
  }
};

}  // namespace

void create_kv_cache(const Value& size) {
  auto created =
      std::make_unique<KVCache>(KVCache::Size{size_in(size, "batch"), size_in(size, "numKvHeads"),
                                              size_in(size, "headDim"), size_in(size, "capacity")});
  give_size(caches().add(std::move(created)));
}

void cache_lengths(const Value& handle) {
  const KVCache& cache = caches().get(handle);
  give_sizes(cache.lengths().data(), cache.lengths().size());
  give_size(cache.size().capacity);
  give_object("lengths capacity");
}

void append_to_cache(const Value& handle, const Value& k, const Value& v, const Value& options) {
  KVCache& cache = caches().get(handle);
  cache.append(to_tensor<4>(k, "k", 4), to_tensor<4>(v, "v", 4), to_chunk(options));
}

void attend_cached(const Value& handle, const Value& q, const Value& k, const Value& v,
                   const Value& options) {
  KVCache& cache = caches().get(handle);
  const AttentionCall call(q, k, v, options);
  const bool need_weights = flag_in(options, "needWeights", false);
  const Value& out = options.get("out");
  const Tensor4& qs = call.q;
  require_out(out, Shape{qs.shape(0), qs.shape(1), qs.shape(2), call.v.shape(3)});
  const AttentionResult result = cached_attention(call.q, call.k, call.v, call.options, cache,
                                                  to_chunk(options), branch_for(need_weights));
  give_tensor_into(out, result.output, call.dropped);
  give_with_weights(need_weights, result.weights, call.dropped);
}

void drop_oldest_of_cache(const Value& handle, const Value& count) {
  caches().get(handle).drop_oldest(to_size(count, "count"));
}

void reset_cache(const Value& handle) { caches().get(handle).reset(); }

void grow_cache(const Value& handle, const Value& capacity) {
  caches().get(handle).grow(to_size(capacity, "capacity"));
}

void free_kv_cache(const Value& handle) { caches().erase(handle); }

void create_grouped_query(const Value& config) {
  auto created = std::make_unique<GroupedQueryAttention>(to_config(config));
  const GroupedQueryConfig resolved = created->config();
  give_size(resolved.hidden_size);
  give_size(resolved.num_heads);
  give_size(resolved.num_kv_heads);
  give_size(resolved.head_dim);
  give(created->parameter_count());
  give_size(grouped_queries().add(std::move(created)));
  give_object("hiddenSize numHeads numKvHeads headDim parameterCount handle");
}

void load_grouped_query(const Value& handle, const Value& names, const Value& tensors) {
  grouped_queries().get(handle).load(to_state_dict(names, tensors));
}

void attend_grouped_query(const Value& handle, const Value& x, const Value& options) {
  const GroupedQueryAttention& module = grouped_queries().get(handle);
  GroupedQueryCall call(x, options);
  const bool need_weights = flag_in(options, "needWeights", false);
  const bool fast = flag_in(options, "fast", true);
  call.options.branch = fast ? branch_for(need_weights) : Branch::plain;
  const auto result = module.forward(call.x, call.options);
  give_tensor(result.output, call.dropped);
  give_with_weights(need_weights, result.weights, call.dropped);
}

void trace_grouped_query(const Value& handle, const Value& x, const Value& options) {
  const GroupedQueryAttention& module = grouped_queries().get(handle);
  const GroupedQueryCall call(x, options);
  Trace trace;
  static_cast<void>(module.forward(call.x, call.options, &trace));
  give_trace(trace, call.dropped);
}

void free_grouped_query(const Value& handle) { grouped_queries().erase(handle); }

}  // namespace softlookup::bindings
