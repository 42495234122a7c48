#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cached_attention.hpp"
#include "kv_cache.hpp"
#include "linear.hpp"
#include "mask.hpp"
#include "rope.hpp"
#include "state_dict.hpp"
#include "tensor.hpp"
#include "trace.hpp"

namespace softlookup {

struct GroupedQueryConfig {
  enum class Bias { none, qkv, all };  // qkv: Qwen2

  std::size_t hidden_size;
  std::size_t num_heads;     // Hq
  std::size_t num_kv_heads;  // Hkv, divides Hq
  std::size_t head_dim;
  std::optional<double> qk_norm_eps;  // RMSNorm of q and k over the head dim, before RoPE
  std::optional<RopeOptions> rope;    // of q and k, never v
  Bias bias;
};

struct GroupedQueryOptions {
  bool causal = true;
  std::optional<Mask> key_mask;         // [B, S], S counting what the cache holds
  KVCache* cache = nullptr;             // given: its keys come first, and the new ones are appended
  std::vector<std::int64_t> positions;  // [L] or [B * L]; empty: on from the cache's, or from 0
  Chunk chunk;                          // which tokens of x are real
  Branch branch = Branch::plain;
};

/// Attention as in Llama, Qwen, Mistral and MiniMind (the lesson's Attention.forward): projections,
/// heads, q/k norm, rotary embedding, cache, repeated key/value heads, attention, output
/// projection.
class GroupedQueryAttention {
 public:
  /// Throws HEADS, OPTION.
  explicit GroupedQueryAttention(const GroupedQueryConfig& config);

  /// q_proj.weight [Hq * E, hidden], k_proj.weight and v_proj.weight [Hkv * E, hidden],
  /// o_proj.weight [hidden, Hq * E], their biases where configured, q_norm.weight and k_norm.weight
  /// [E]. Nothing changes when it throws STATE_DICT or SHAPE.
  void load(const StateDict& state);

  /// x [B, L, hidden] -> output [B, L, hidden] and weights [B, Hq, L, S], none on the fast branch;
  /// a trace is of the plain one. The cache changes last of all, so that it is as before when
  /// anything throws: SHAPE, MASK_SHAPE, MASK_VALUE, OPTION, CACHE_FULL, STATE_DICT.
  struct Result {
    Tensor3 output;
    Tensor4 weights;
  };
  [[nodiscard]] Result forward(const Tensor3& x, const GroupedQueryOptions& options,
                               Trace* trace = nullptr) const;

  [[nodiscard]] const GroupedQueryConfig& config() const { return config_; }
  [[nodiscard]] double parameter_count() const;

 private:
  struct Parameters {
    Projection query, key, value, output;
    Tensor1 q_norm, k_norm;  // [E] or empty
  };

  void require_fitting(const Tensor3& x, const GroupedQueryOptions& options) const;
  GroupedQueryConfig config_;
  std::optional<Parameters> parameters_;
};

}  // namespace softlookup
