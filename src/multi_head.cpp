#include "multi_head.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "error.hpp"
#include "flash.hpp"
#include "heads.hpp"
#include "mask_array.hpp"
#include "sequences.hpp"

namespace softlookup {

namespace {

/// [B, 1, n, E] -> head h of [B, H, n, E]
void copy_head(const Tensor4& head, Tensor4& heads, std::size_t h) {
  const std::size_t part = head.shape(2) * head.shape(3);
  for (std::size_t b = 0; b < head.shape(0); ++b) {
    std::copy_n(head.data() + b * part, part, heads.data() + (b * heads.shape(1) + h) * part);
  }
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadConfig& config) : config_(config) {
  if (config.embed_dim == 0 || config.kdim == 0 || config.vdim == 0) {
    fail(ErrorCode::OPTION, "embedDim, kdim and vdim must be above 0");
  }
  if (config.num_heads == 0 || config.embed_dim % config.num_heads != 0) {
    fail(ErrorCode::HEADS, "numHeads = % does not divide embedDim = %",
         {config.num_heads, config.embed_dim});
  }
}

void MultiHeadAttention::load(const StateDict& state) {
  const std::size_t d = config_.embed_dim;
  StateReader reader(state);
  Parameters loaded;

  if (reader.has("in_proj_weight") && config_.kdim == d && config_.vdim == d) {
    const NdArray& packed = reader.take("in_proj_weight", {3 * d, d});
    loaded.query.weight = pack(matrix_rows(packed, 0, d));
    loaded.key.weight = pack(matrix_rows(packed, d, d));
    loaded.value.weight = pack(matrix_rows(packed, 2 * d, d));
  } else {
    loaded.query.weight = pack(reader.matrix("q_proj_weight", d, d));
    loaded.key.weight = pack(reader.matrix("k_proj_weight", d, config_.kdim));
    loaded.value.weight = pack(reader.matrix("v_proj_weight", d, config_.vdim));
  }
  loaded.output.weight = pack(reader.matrix("out_proj.weight", d, d));
  if (config_.bias) {
    const NdArray& packed = reader.take("in_proj_bias", {3 * d});
    loaded.query.bias = elements(packed, 0, d);
    loaded.key.bias = elements(packed, d, d);
    loaded.value.bias = elements(packed, 2 * d, d);
    loaded.output.bias = reader.vector("out_proj.bias", d);
  }
  if (config_.add_bias_kv) {
    loaded.bias_k = elements(reader.take("bias_k", {1, 1, d}), 0, d);
    loaded.bias_v = elements(reader.take("bias_v", {1, 1, d}), 0, d);
  }
  reader.require_all_taken();
  parameters_ = std::move(loaded);
}

std::size_t MultiHeadAttention::added_keys() const {
  return (config_.add_bias_kv ? 1U : 0U) + (config_.add_zero_attn ? 1U : 0U);
}

/// [B, S, D] -> [B, S + added keys, D]: the learned row first, then the row of zeros.
Tensor3 MultiHeadAttention::append_keys(const Tensor3& projected, const Tensor1& learned) const {
  const std::size_t keys = projected.shape(1);
  const std::size_t width = projected.shape(2);
  Tensor3 extended = Tensor3::from_shape({projected.shape(0), keys + added_keys(), width});
  float* next = extended.data();
  for (std::size_t b = 0; b < projected.shape(0); ++b) {
    next = std::copy_n(projected.data() + b * keys * width, keys * width, next);
    next = std::copy_n(learned.data(), learned.size(), next);
    next = std::fill_n(next, config_.add_zero_attn ? width : 0, 0.0F);
  }
  return extended;
}

void MultiHeadAttention::require_shapes(const Shape& query, const Shape& key,
                                        const Shape& value) const {
  require_sequences(query, key, value);
  const auto require_width = [&](const Shape& shape, std::size_t width, const char* name) {
    if (shape.back() != width) {
      fail(ErrorCode::SHAPE, "query %, key %, value %: the last axis of % must be %",
           {query, key, value, name, width});
    }
  };
  require_width(query, config_.embed_dim, "query");
  require_width(key, config_.kdim, "key");
  require_width(value, config_.vdim, "value");
}

MultiHeadAttention::Result MultiHeadAttention::forward(const Tensor3& query, const Tensor3& key,
                                                       const Tensor3& value,
                                                       const MultiHeadOptions& options,
                                                       Trace* trace) const {
  if (!parameters_) {
    fail(ErrorCode::STATE_DICT, "no parameters yet: call loadStateDict first");
  }
  require_shapes(shape_of(query), shape_of(key), shape_of(value));
  const auto note = [trace](const char* id, const char* formula, const auto& tensor) {
    if (trace != nullptr) {
      trace->record(id, formula, tensor);
    }
  };
  const auto& [to_query, to_key, to_value, to_output, bias_k, bias_v] = *parameters_;
  const bool fast = options.branch != Branch::plain && trace == nullptr;
  const auto project = fast ? fast_linear : plain_linear;

  // 1. project: (B, n, D) -> (B, n, D), three times
  const Tensor3 q = project(query, to_query);
  const Tensor3 k = append_keys(project(key, to_key), bias_k);
  const Tensor3 v = append_keys(project(value, to_value), bias_v);
  note("query", "query W_Qᵀ + b_Q", q);
  note("key", "key W_Kᵀ + b_K", k);
  note("value", "value W_Vᵀ + b_V", v);

  if (fast && options.branch == Branch::fast) {
    // 2. to 4. with the heads where they lie
    Tensor3 merged = Tensor3::from_shape(q.shape());
    const std::size_t heads = config_.num_heads;
    flash_attention(heads_of(q, heads), heads_of(k, heads), heads_of(v, heads),
                    visibility(key, options), heads_of(merged, heads));
    return {fast_linear(merged, to_output), {}};
  }

  // 2. split: (B, n, D) -> (B, H, n, D / H)
  const Tensor4 q_heads = split_heads(q, config_.num_heads);
  const Tensor4 k_heads = split_heads(k, config_.num_heads);
  const Tensor4 v_heads = split_heads(v, config_.num_heads);
  note("queryHeads", "split into heads", q_heads);
  note("keyHeads", "split into heads", k_heads);
  note("valueHeads", "split into heads", v_heads);

  // 3. attend, each head on its own
  Trace inner;
  AttentionResult attended = attend(q_heads, k_heads, v_heads, visibility(key, options),
                                    options.branch, trace != nullptr ? &inner : nullptr);
  if (trace != nullptr) {
    trace->append(inner, {{"output", "heads"}});
  }

  // 4. merge: (B, H, n, D / H) -> (B, n, D)
  const Tensor3 merged = merge_heads(attended.output);
  note("merged", "heads side by side", merged);

  // 5. mix the heads
  Tensor3 output = project(merged, to_output);
  note("output", "merged W_Oᵀ + b_O", output);
  return {std::move(output), std::move(attended.weights)};
}

AttentionOptions MultiHeadAttention::visibility(const Tensor3& key,
                                                const MultiHeadOptions& options) const {
  AttentionOptions visible;
  visible.masks = options.masks;
  visible.causal = options.causal;
  visible.free_keys = added_keys();
  if (options.key_mask) {
    visible.masks.push_back(key_mask_for_scores(*options.key_mask, key.shape(0), key.shape(1)));
  }
  return visible;
}

MultiHeadAttention::Result MultiHeadAttention::forward_head_by_head(
    const Tensor3& query, const Tensor3& key, const Tensor3& value,
    const MultiHeadOptions& options) const {
  if (!parameters_) {
    fail(ErrorCode::STATE_DICT, "no parameters yet: call loadStateDict first");
  }
  require_shapes(shape_of(query), shape_of(key), shape_of(value));
  const auto& [to_query, to_key, to_value, to_output, bias_k, bias_v] = *parameters_;
  const std::size_t heads = config_.num_heads;
  const std::size_t head_dim = config_.embed_dim / heads;
  const AttentionOptions visible = visibility(key, options);
  const std::size_t keys = key.shape(1) + added_keys();

  Tensor4 outputs = Tensor4::from_shape({query.shape(0), heads, query.shape(1), head_dim});
  Tensor4 weights = Tensor4::from_shape({query.shape(0), heads, query.shape(1), keys});
  for (std::size_t h = 0; h < heads; ++h) {
    const auto of_head = [&](const Tensor1& whole) {
      return whole.size() == 0 ? Tensor1() : elements(whole, h * head_dim, head_dim);
    };
    const auto project = [&](const Tensor3& x, const Projection& projection) {
      return linear(x, unpack_rows(projection.weight, h * head_dim, head_dim),
                    of_head(projection.bias));  // [B, n, D / H]
    };
    const Tensor3 k = append_keys(project(key, to_key), of_head(bias_k));
    const Tensor3 v = append_keys(project(value, to_value), of_head(bias_v));
    AttentionOptions visible_to_head = visible;
    for (Mask& mask : visible_to_head.masks) {
      mask = mask_of_head(mask, h);
    }
    const AttentionResult head = attention(split_heads(project(query, to_query), 1),
                                           split_heads(k, 1), split_heads(v, 1), visible_to_head);
    copy_head(head.output, outputs, h);
    copy_head(head.weights, weights, h);
  }
  return {plain_linear(merge_heads(outputs), to_output), std::move(weights)};
}

double MultiHeadAttention::parameter_count() const {
  const auto d = static_cast<double>(config_.embed_dim);
  const auto inputs = static_cast<double>(config_.kdim) + static_cast<double>(config_.vdim);
  const double weights = d * (2 * d + inputs);
  return weights + (config_.bias ? 4 * d : 0) + (config_.add_bias_kv ? 2 * d : 0);
}

Tensor3 average_heads(const Tensor4& weights) {
  const std::size_t heads = weights.shape(1);
  const std::size_t size = weights.shape(2) * weights.shape(3);
  Tensor3 mean = Tensor3::from_shape({weights.shape(0), weights.shape(2), weights.shape(3)});
  for (std::size_t b = 0; b < weights.shape(0); ++b) {
    for (std::size_t place = 0; place < size; ++place) {
      double sum = 0;
      for (std::size_t h = 0; h < heads; ++h) {
        sum += static_cast<double>(weights.data()[(b * heads + h) * size + place]);
      }
      mean.data()[b * size + place] = static_cast<float>(sum / static_cast<double>(heads));
    }
  }
  return mean;
}

}  // namespace softlookup
