#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mask.hpp"
#include "rope.hpp"
#include "tensor.hpp"

/// The ONNX operators of attention by their own names and rules (opset 23 to 25), composed of the
/// core's parts.
namespace softlookup::onnx {

struct AttentionInputs {
  NdArray q;  // [B, Hq, L, E] or [B, L, Hq * E]
  NdArray k;  // [B, Hkv, S, E] or [B, S, Hkv * E]
  NdArray v;  // [B, Hkv, S, Ev] or [B, S, Hkv * Ev]

  /// 1 to 4 axes, broadcasts to [B, Hq, L, T] with T = past + S. A last axis below T hides the keys
  /// that it does not reach.
  std::optional<Mask> attn_mask;
  std::optional<Tensor4> past_key;                            // [B, Hkv, past, E]
  std::optional<Tensor4> past_value;                          // [B, Hkv, past, Ev]
  std::optional<std::vector<std::int64_t>> nonpad_kv_seqlen;  // [B]: how many keys are real
};

/// What qk_matmul_output shows.
enum class ScoreStage { scaled, capped, masked, weights };

struct AttentionAttributes {
  bool is_causal = false;
  std::size_t q_num_heads = 0, kv_num_heads = 0;  // wanted for 3 axes
  std::optional<float> scale;                     // default 1 / sqrt(E)
  float softcap = 0;                              // 0 = none
  std::optional<std::size_t> left_window_size, right_window_size;
  std::optional<ScoreStage> qk_matmul_output;
};

struct AttentionOutputs {
  NdArray y;                                          // as q, with Ev for E
  std::optional<Tensor4> present_key, present_value;  // [B, Hkv, T, E], where a past is given
  std::optional<Tensor4> qk_matmul_output;            // [B, Hq, L, T], where asked for
};

/// Attention. Query i of batch row b stands at key i + past, or i + nonpad_kv_seqlen[b] - L, or i.
/// Softcap comes before the mask. Throws RANK, SHAPE, HEADS, OPTION, MASK_SHAPE, MASK_VALUE.
AttentionOutputs attention(const AttentionInputs& inputs, const AttentionAttributes& attributes);

struct RotaryInputs {
  NdArray x;                     // [B, H, L, D] or [B, L, H * D]
  NdArray cos_cache, sin_cache;  // [positions, dims / 2], or [B, L, dims / 2] without position_ids
  std::optional<std::vector<std::int64_t>> position_ids;  // [B * L]
};

struct RotaryAttributes {
  RopeLayout layout = RopeLayout::half;
  std::size_t num_heads = 0;             // wanted for 3 axes
  std::size_t rotary_embedding_dim = 0;  // dims; 0 = D
};

/// RotaryEmbedding -> the shape of x. Throws RANK, SHAPE, HEADS, OPTION.
NdArray rotary_embedding(const RotaryInputs& inputs, const RotaryAttributes& attributes);

/// RMSNormalization over the axes from `axis` (negative: from the end) on; scale broadcasts to
/// them. Throws RANK, SHAPE, OPTION.
NdArray rms_normalization(const NdArray& x, const NdArray& scale, std::int64_t axis,
                          double epsilon);

}  // namespace softlookup::onnx
