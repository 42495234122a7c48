#include "multi_head.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>
#include <xtensor/xmath.hpp>

#include "error.hpp"
#include "heads.hpp"
#include "linear.hpp"

namespace softlookup {

namespace {

/// Hands parameters out by name, and knows in the end which were never asked for.
class StateReader {
 public:
  explicit StateReader(const StateDict& state) : state_(state) {}

  [[nodiscard]] bool has(const std::string& name) const { return state_.count(name) != 0; }

  const NdArray& take(const std::string& name, const Shape& shape) {
    const auto found = state_.find(name);
    if (found == state_.end()) {
      throw Error(ErrorCode::STATE_DICT,
                  "state dict: " + name + " " + shape_text(shape) + " is missing");
    }
    const NdArray& array = found->second;
    if (shape_of(array) != shape) {
      throw Error(ErrorCode::SHAPE, "state dict: " + name + " is " + shape_text(array.shape()) +
                                        ", expected " + shape_text(shape));
    }
    taken_.insert(name);
    return array;
  }

  void require_all_taken() const {
    for (const auto& [name, array] : state_) {
      if (taken_.count(name) == 0) {
        throw Error(ErrorCode::STATE_DICT, "state dict: " + name + " " + shape_text(array.shape()) +
                                               " does not belong to this configuration");
      }
    }
  }

 private:
  const StateDict& state_;
  std::set<std::string> taken_;
};

/// Rows first ... first + count - 1 of a matrix.
Tensor2 matrix_rows(const NdArray& packed, std::size_t first, std::size_t count) {
  const std::size_t width = packed.shape(1);
  Tensor2 rows = Tensor2::from_shape({count, width});
  std::copy_n(packed.data() + first * width, count * width, rows.data());
  return rows;
}

/// `count` elements from `first` on, whatever the shape.
Tensor1 elements(const NdArray& array, std::size_t first, std::size_t count) {
  Tensor1 part = Tensor1::from_shape({count});
  std::copy_n(array.data() + first, count, part.data());
  return part;
}

/// [B, S] -> [B, 1, 1, S]
Mask key_mask_for_scores(const Mask& mask, std::size_t batch, std::size_t keys) {
  return std::visit(
      [&](auto array) -> Mask {
        const Shape expected{batch, keys};
        if (shape_of(array) != expected) {
          throw Error(ErrorCode::MASK_SHAPE, "keyMask " + shape_text(array.shape()) +
                                                 ", expected [B, S] = " + shape_text(expected));
        }
        array.reshape(Shape{batch, 1, 1, keys});
        return array;
      },
      mask);
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadConfig& config) : config_(config) {
  if (config.embed_dim == 0 || config.kdim == 0 || config.vdim == 0) {
    throw Error(ErrorCode::OPTION, "embedDim, kdim and vdim must be above 0");
  }
  if (config.num_heads == 0 || config.embed_dim % config.num_heads != 0) {
    throw Error(ErrorCode::HEADS,
                "numHeads = " + std::to_string(config.num_heads) +
                    " does not divide embedDim = " + std::to_string(config.embed_dim));
  }
}

void MultiHeadAttention::load(const StateDict& state) {
  const std::size_t d = config_.embed_dim;
  StateReader reader(state);
  Parameters loaded;

  if (reader.has("in_proj_weight") && config_.kdim == d && config_.vdim == d) {
    const NdArray& packed = reader.take("in_proj_weight", {3 * d, d});
    loaded.query.weight = matrix_rows(packed, 0, d);
    loaded.key.weight = matrix_rows(packed, d, d);
    loaded.value.weight = matrix_rows(packed, 2 * d, d);
  } else {
    const auto whole = [&](const char* name, std::size_t width) {
      return matrix_rows(reader.take(name, {d, width}), 0, d);
    };
    loaded.query.weight = whole("q_proj_weight", d);
    loaded.key.weight = whole("k_proj_weight", config_.kdim);
    loaded.value.weight = whole("v_proj_weight", config_.vdim);
  }
  loaded.output.weight = matrix_rows(reader.take("out_proj.weight", {d, d}), 0, d);
  if (config_.bias) {
    const NdArray& packed = reader.take("in_proj_bias", {3 * d});
    loaded.query.bias = elements(packed, 0, d);
    loaded.key.bias = elements(packed, d, d);
    loaded.value.bias = elements(packed, 2 * d, d);
    loaded.output.bias = elements(reader.take("out_proj.bias", {d}), 0, d);
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
  Tensor3 extended = xt::zeros<float>({projected.shape(0), keys + added_keys(), width});
  for (std::size_t b = 0; b < projected.shape(0); ++b) {
    float* rows = extended.data() + b * extended.shape(1) * width;
    std::copy_n(projected.data() + b * keys * width, keys * width, rows);
    std::copy_n(learned.data(), learned.size(), rows + keys * width);
  }
  return extended;
}

void MultiHeadAttention::require_shapes(const Shape& query, const Shape& key,
                                        const Shape& value) const {
  const std::string all =
      "query " + shape_text(query) + ", key " + shape_text(key) + ", value " + shape_text(value);
  for (const Shape& shape : {query, key, value}) {
    if (shape.size() != query.size() || shape.size() < 2 || shape.size() > 3) {
      throw Error(ErrorCode::RANK, all + ": expected 2 or 3 axes, the same number for all");
    }
  }
  const auto require_width = [&](const Shape& shape, std::size_t width, const char* name) {
    if (shape.back() != width) {
      throw Error(ErrorCode::SHAPE,
                  all + ": the last axis of " + name + " must be " + std::to_string(width));
    }
  };
  require_width(query, config_.embed_dim, "query");
  require_width(key, config_.kdim, "key");
  require_width(value, config_.vdim, "value");
  if (query.size() == 3 && (key[0] != query[0] || value[0] != query[0])) {
    throw Error(ErrorCode::SHAPE, all + ": the batch sizes differ");
  }
  if (value[value.size() - 2] != key[key.size() - 2]) {
    throw Error(ErrorCode::SHAPE, all + ": key and value must have the same length");
  }
}

MultiHeadAttention::Result MultiHeadAttention::forward(const Tensor3& query, const Tensor3& key,
                                                       const Tensor3& value,
                                                       const MultiHeadOptions& options,
                                                       Trace* trace) const {
  if (!parameters_) {
    throw Error(ErrorCode::STATE_DICT, "no parameters yet: call loadStateDict first");
  }
  require_shapes(shape_of(query), shape_of(key), shape_of(value));
  const auto note = [trace](const char* id, const char* formula, const auto& tensor) {
    if (trace != nullptr) {
      trace->record(id, formula, tensor);
    }
  };
  const auto& [to_query, to_key, to_value, to_output, bias_k, bias_v] = *parameters_;

  // 1. project: (B, n, D) -> (B, n, D), three times
  const Tensor3 q = linear(query, to_query.weight, to_query.bias);
  const Tensor3 k = append_keys(linear(key, to_key.weight, to_key.bias), bias_k);
  const Tensor3 v = append_keys(linear(value, to_value.weight, to_value.bias), bias_v);
  note("query", "query W_Qᵀ + b_Q", q);
  note("key", "key W_Kᵀ + b_K", k);
  note("value", "value W_Vᵀ + b_V", v);

  // 2. split: (B, n, D) -> (B, H, n, D / H)
  const Tensor4 q_heads = split_heads(q, config_.num_heads);
  const Tensor4 k_heads = split_heads(k, config_.num_heads);
  const Tensor4 v_heads = split_heads(v, config_.num_heads);
  note("queryHeads", "split into heads", q_heads);
  note("keyHeads", "split into heads", k_heads);
  note("valueHeads", "split into heads", v_heads);

  // 3. attend, each head on its own
  AttentionOptions attention_options;
  attention_options.masks = options.masks;
  attention_options.causal = options.causal;
  attention_options.free_keys = added_keys();
  if (options.key_mask) {
    attention_options.masks.push_back(
        key_mask_for_scores(*options.key_mask, key.shape(0), key.shape(1)));
  }
  Trace inner;
  AttentionResult attended =
      attention(q_heads, k_heads, v_heads, attention_options, trace != nullptr ? &inner : nullptr);
  if (trace != nullptr) {
    trace->append(inner, "heads");
  }

  // 4. merge: (B, H, n, D / H) -> (B, n, D)
  const Tensor3 merged = merge_heads(attended.output);
  note("merged", "heads side by side", merged);

  // 5. mix the heads
  Tensor3 output = linear(merged, to_output.weight, to_output.bias);
  note("output", "merged W_Oᵀ + b_O", output);
  return {std::move(output), std::move(attended.weights)};
}

std::size_t MultiHeadAttention::parameter_count() const {
  const std::size_t d = config_.embed_dim;
  const std::size_t weights = d * d + d * config_.kdim + d * config_.vdim + d * d;
  return weights + (config_.bias ? 4 * d : 0) + (config_.add_bias_kv ? 2 * d : 0);
}

Tensor3 average_heads(const Tensor4& weights) { return xt::mean<double>(weights, {1}); }

}  // namespace softlookup
