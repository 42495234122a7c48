#include "grouped_query.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "error.hpp"
#include "flash.hpp"
#include "heads.hpp"
#include "mask_array.hpp"
#include "rms_norm.hpp"

namespace softlookup {

namespace {

/// [B, H, L, E] -> [B, L, H, E], as the lesson lays heads out before attention.
NdArray by_token(const Tensor4& x) {
  NdArray tokens = merge_heads(x);
  tokens.reshape(Shape{x.shape(0), x.shape(2), x.shape(1), x.shape(3)});
  return tokens;
}

/// [B * L]; padding in front of a row counts as position 0.
std::vector<std::int64_t> positions_of(const Tensor3& x, const GroupedQueryOptions& options) {
  if (!options.positions.empty()) {
    return options.positions;
  }
  const std::size_t tokens = x.shape(1);
  std::vector<std::int64_t> running;
  running.reserve(x.shape(0) * tokens);
  for (std::size_t b = 0; b < x.shape(0); ++b) {
    const std::size_t padding = options.chunk.first(b, tokens);
    const std::int64_t start = options.cache != nullptr ? options.cache->next_position(b) : 0;
    for (std::size_t i = 0; i < tokens; ++i) {
      running.push_back(start + static_cast<std::int64_t>(i < padding ? 0 : i - padding));
    }
  }
  return running;
}

}  // namespace

GroupedQueryAttention::GroupedQueryAttention(const GroupedQueryConfig& config) : config_(config) {
  if (config.num_kv_heads == 0 || config.num_heads == 0 ||
      config.num_heads % config.num_kv_heads != 0) {
    fail(ErrorCode::HEADS, "numKvHeads = % does not divide numHeads = %",
         {config.num_kv_heads, config.num_heads});
  }
  if (config.hidden_size == 0 || config.head_dim == 0) {
    fail(ErrorCode::OPTION, "hiddenSize and headDim must be above 0");
  }
  // What no token can be normalised or turned by is refused here, not with the first token.
  Tensor4 token(std::array<std::size_t, 4>{1, 1, 1, config.head_dim}, 0.0F);
  if (config.qk_norm_eps) {
    token = rms_norm(token, Tensor1(), *config.qk_norm_eps, false);
  }
  if (config.rope) {
    token = rope(token, *config.rope, {0});
  }
}

void GroupedQueryAttention::load(const StateDict& state) {
  const std::size_t hidden = config_.hidden_size;
  const std::size_t q_dim = config_.num_heads * config_.head_dim;
  const std::size_t kv_dim = config_.num_kv_heads * config_.head_dim;
  StateReader reader(state);
  Parameters loaded;
  loaded.query.weight = pack(reader.matrix("q_proj.weight", q_dim, hidden));
  loaded.key.weight = pack(reader.matrix("k_proj.weight", kv_dim, hidden));
  loaded.value.weight = pack(reader.matrix("v_proj.weight", kv_dim, hidden));
  loaded.output.weight = pack(reader.matrix("o_proj.weight", hidden, q_dim));
  if (config_.bias != GroupedQueryConfig::Bias::none) {
    loaded.query.bias = reader.vector("q_proj.bias", q_dim);
    loaded.key.bias = reader.vector("k_proj.bias", kv_dim);
    loaded.value.bias = reader.vector("v_proj.bias", kv_dim);
  }
  if (config_.bias == GroupedQueryConfig::Bias::all) {
    loaded.output.bias = reader.vector("o_proj.bias", hidden);
  }
  if (config_.qk_norm_eps) {
    loaded.q_norm = reader.vector("q_norm.weight", config_.head_dim);
    loaded.k_norm = reader.vector("k_norm.weight", config_.head_dim);
  }
  reader.require_all_taken();
  parameters_ = std::move(loaded);
}

void GroupedQueryAttention::require_fitting(const Tensor3& x,
                                            const GroupedQueryOptions& options) const {
  const std::size_t batch = x.shape(0);
  const std::size_t tokens = x.shape(1);
  if (x.shape(2) != config_.hidden_size) {
    fail(ErrorCode::SHAPE, "x %: the last axis must be %", {x.shape(), config_.hidden_size});
  }
  if (!options.positions.empty() && options.positions.size() != tokens &&
      options.positions.size() != batch * tokens) {
    fail(ErrorCode::SHAPE, "positions: % numbers for x %, expected [L] or [B, L]",
         {options.positions.size(), x.shape()});
  }
  options.chunk.require_valid(batch, tokens);
  if (options.cache != nullptr) {
    const KVCache::Size& size = options.cache->size();
    const Shape given{size.batch, size.num_kv_heads, size.capacity, size.head_dim};
    const Shape expected{batch, config_.num_kv_heads, size.capacity, config_.head_dim};
    if (given != expected) {
      fail(ErrorCode::SHAPE, "cache %, expected %", {given, expected});
    }
  }
}

GroupedQueryAttention::Result GroupedQueryAttention::forward(const Tensor3& x,
                                                             const GroupedQueryOptions& options,
                                                             Trace* trace) const {
  if (!parameters_) {
    fail(ErrorCode::STATE_DICT, "no parameters yet: call loadStateDict first");
  }
  require_fitting(x, options);
  const auto note = [trace](const char* id, const char* formula, const auto& tensor) {
    if (trace != nullptr) {
      trace->record(id, formula, tensor);
    }
  };
  const auto& [to_query, to_key, to_value, to_output, q_norm, k_norm] = *parameters_;

  const bool fast = options.branch != Branch::plain && trace == nullptr;
  const auto project = fast ? fast_linear : plain_linear;

  // 1. project
  const Tensor3 q_projected = project(x, to_query);  // [B, L, Hq * E]
  const Tensor3 k_projected = project(x, to_key);    // [B, L, Hkv * E]
  const Tensor3 v_projected = project(x, to_value);
  note("q_proj", "x W_Qᵀ", q_projected);
  note("k_proj", "x W_Kᵀ", k_projected);
  note("v_proj", "x W_Vᵀ", v_projected);

  // 2. split into heads
  Tensor4 q = split_heads(q_projected, config_.num_heads);     // [B, Hq, L, E]
  Tensor4 k = split_heads(k_projected, config_.num_kv_heads);  // [B, Hkv, L, E]
  Tensor4 v = split_heads(v_projected, config_.num_kv_heads);
  if (trace != nullptr) {
    trace->record("xq", "q_proj as [B, L, Hq, E]", by_token(q));
    trace->record("xk", "k_proj as [B, L, Hkv, E]", by_token(k));
    trace->record("xv", "v_proj as [B, L, Hkv, E]", by_token(v));
  }

  // 3. normalise q and k, each head on its own
  if (config_.qk_norm_eps) {
    q = rms_norm(q, q_norm, *config_.qk_norm_eps, false);
    k = rms_norm(k, k_norm, *config_.qk_norm_eps, false);
    if (trace != nullptr) {
      trace->record("q_norm", "RMSNorm(xq)", by_token(q));
      trace->record("k_norm", "RMSNorm(xk)", by_token(k));
    }
  }

  // 4. turn q and k by their positions
  if (config_.rope) {
    const auto turned_by = positions_of(x, options);
    q = rope(q, *config_.rope, turned_by);
    k = rope(k, *config_.rope, turned_by);
    if (trace != nullptr) {
      trace->record("q_rope", "RoPE(xq)", by_token(q));
      trace->record("k_rope", "RoPE(xk)", by_token(k));
    }
  }

  // 5. the past comes first
  const Chunk& chunk = options.chunk;
  if (trace != nullptr) {
    const Tensor4 all_k = options.cache != nullptr ? options.cache->keys_with(k, chunk) : k;
    const Tensor4 all_v = options.cache != nullptr ? options.cache->values_with(v, chunk) : v;
    const std::size_t repeats = config_.num_heads / config_.num_kv_heads;
    trace->record("past_k", "keys, the past first", by_token(all_k));
    trace->record("past_v", "values, the past first", by_token(all_v));
    trace->record("xk_repeat", "repeat_kv(xk)", by_token(repeat_kv(all_k, repeats)));
    trace->record("xv_repeat", "repeat_kv(xv)", by_token(repeat_kv(all_v, repeats)));
  }

  // 6. attend; a group of query heads reads one key/value head
  AttentionOptions visible;
  visible.causal = options.causal ? Causal::square : Causal::none;
  std::size_t keys = x.shape(1);
  if (options.cache != nullptr) {
    keys = options.cache->longest_with(x.shape(1), chunk);
  } else if (!chunk.lengths.empty()) {
    visible.masks.emplace_back(padding_mask(chunk.lengths, keys, chunk.side));
  }
  if (options.key_mask) {
    visible.masks.push_back(key_mask_for_scores(*options.key_mask, x.shape(0), keys));
  }
  Trace inner;
  Trace* const inside = trace != nullptr ? &inner : nullptr;
  const AttentionResult attended =
      options.cache != nullptr
          ? cached_attention(q, k, v, visible, *options.cache, chunk, options.branch, inside)
          : attend(q, k, v, visible, options.branch, inside);
  if (trace != nullptr) {
    trace->append(inner, {{"scores", "qk"}, {"scaled", "scores"}, {"output", "head_out"}});
  }

  // 7. merge the heads
  const Tensor3 merged = merge_heads(attended.output);  // [B, L, Hq * E]
  note("merged", "heads side by side", merged);

  // 8. back to the hidden size
  Tensor3 output = project(merged, to_output);
  note("output", "merged W_Oᵀ", output);

  return {std::move(output), attended.weights};
}

double GroupedQueryAttention::parameter_count() const {
  const auto head_dim = static_cast<double>(config_.head_dim);
  const auto hidden_size = static_cast<double>(config_.hidden_size);
  const double q_dim = static_cast<double>(config_.num_heads) * head_dim;
  const double kv_dim = static_cast<double>(config_.num_kv_heads) * head_dim;
  const bool qkv_bias = config_.bias != GroupedQueryConfig::Bias::none;
  const bool output_bias = config_.bias == GroupedQueryConfig::Bias::all;
  return 2 * hidden_size * (q_dim + kv_dim) + (qkv_bias ? q_dim + 2 * kv_dim : 0) +
         (output_bias ? hidden_size : 0) + (config_.qk_norm_eps ? 2 * head_dim : 0);
}

}  // namespace softlookup
