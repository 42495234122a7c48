#include "onnx.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "attention.hpp"
#include "attention_checks.hpp"
#include "error.hpp"
#include "flash.hpp"
#include "heads.hpp"
#include "rms_norm.hpp"
#include "trace.hpp"

namespace softlookup::onnx {

namespace {

/// [B, H, L, D], whichever of the two layouts x has.
Tensor4 by_head(const NdArray& x, std::size_t heads, const char* name, const char* attribute) {
  if (x.dimension() != 3 && x.dimension() != 4) {
    fail(ErrorCode::RANK, "% %: expected 3 or 4 axes", {name, x.shape()});
  }
  if (x.dimension() == 3 && heads == 0) {
    fail(ErrorCode::HEADS, "% % has 3 axes and wants %", {name, x.shape(), attribute});
  }
  const bool fits =
      x.dimension() == 3 ? x.shape(2) % heads == 0 : heads == 0 || heads == x.shape(1);
  if (!fits) {
    fail(ErrorCode::HEADS, "% = % does not fit % %", {attribute, heads, name, x.shape()});
  }
  return x.dimension() == 3 ? split_heads(x, heads) : Tensor4(x);
}

/// In the layout that the input had.
NdArray as_given(const Tensor4& x, std::size_t rank) {
  return rank == 3 ? NdArray(merge_heads(x)) : NdArray(x);
}

/// The past, then what is new: [B, H, past + S, D]
Tensor4 concatenate(const Tensor4& past, const Tensor4& added, const char* name) {
  const Shape wanted{added.shape(0), added.shape(1), past.shape(2), added.shape(3)};
  if (shape_of(past) != wanted) {
    fail(ErrorCode::SHAPE, "% %, expected %", {name, past.shape(), wanted});
  }
  const std::size_t length = past.shape(2) + added.shape(2);
  const std::array<std::size_t, 4> whole{added.shape(0), added.shape(1), length, added.shape(3)};
  require_addressable(whole, name);
  Tensor4 present = Tensor4::from_shape(whole);
  const std::size_t old_size = past.shape(2) * past.shape(3);
  const std::size_t new_size = added.shape(2) * added.shape(3);
  float* to = present.data();
  for (std::size_t head = 0; head < whole[0] * whole[1]; ++head) {
    to = std::copy_n(past.data() + head * old_size, old_size, to);
    to = std::copy_n(added.data() + head * new_size, new_size, to);
  }
  return present;
}

/// The mask with its last axis made `keys` long: what it does not reach is hidden, also by an axis
/// of 1.
template <class Array>
Mask padded(const Array& mask, std::size_t keys, typename Array::value_type hidden) {
  if (mask.dimension() == 0 || mask.dimension() > 4) {
    fail(ErrorCode::MASK_SHAPE, "attn_mask %: expected 1 to 4 axes", {mask.shape()});
  }
  Shape shape = shape_of(mask);
  const std::size_t own = shape.back();
  if (own >= keys) {
    return mask;
  }
  shape.back() = keys;
  require_addressable(shape, "attn_mask");
  Array whole = Array::from_shape(shape);
  std::fill(whole.begin(), whole.end(), hidden);
  for (std::size_t row = 0; row < whole.size() / keys; ++row) {
    std::copy_n(mask.data() + row * own, own, whole.data() + row * keys);
  }
  return whole;
}

Mask padded_mask(const Mask& mask, std::size_t keys) {
  if (const auto* keep = std::get_if<NdBool>(&mask)) {
    return padded(*keep, keys, 0);
  }
  return padded(*std::get_if<NdArray>(&mask), keys, -std::numeric_limits<float>::infinity());
}

/// [B]: how many keys of each row are real.
std::vector<std::size_t> real_keys(const std::vector<std::int64_t>& lengths, std::size_t batch,
                                   std::size_t keys) {
  if (lengths.size() != batch) {
    fail(ErrorCode::SHAPE, "nonpad_kv_seqlen [%], expected B = %", {lengths.size(), batch});
  }
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > static_cast<std::int64_t>(keys)) {
      fail(ErrorCode::OPTION, "nonpad_kv_seqlen: % is not in 0 to S = %", {length, keys});
    }
  }
  return {lengths.begin(), lengths.end()};
}

/// The pass that shows a stage. Without softcap nothing is capped.
const char* pass_of(ScoreStage stage, bool is_capped) {
  switch (stage) {
    case ScoreStage::scaled:
      return "scaled";
    case ScoreStage::capped:
      return is_capped ? "capped" : "scaled";
    case ScoreStage::masked:
      return "masked";
    case ScoreStage::weights:
      break;
  }
  return "weights";
}

Tensor4 pass(const Trace& trace, const char* id) {
  const auto& steps = trace.steps();
  return std::find_if(steps.begin(), steps.end(),
                      [id](const TraceStep& step) { return step.id == id; })
      ->tensor;
}

/// For each token [B * L] where its row of cos_cache and sin_cache begins.
std::vector<std::size_t> cache_rows(const RotaryInputs& inputs, const Tensor4& x,
                                    std::size_t pairs) {
  const auto& positions = inputs.position_ids;
  const Shape cache = shape_of(inputs.cos_cache);
  const Shape wanted =
      positions ? Shape{cache.empty() ? 0 : cache[0], pairs} : Shape{x.shape(0), x.shape(2), pairs};
  if (cache != wanted || shape_of(inputs.sin_cache) != wanted) {
    fail(ErrorCode::SHAPE, "cos_cache %, sin_cache %, expected %%",
         {cache, inputs.sin_cache.shape(), wanted,
          positions ? " beside position_ids" : " without position_ids"});
  }
  std::vector<std::size_t> rows(x.shape(0) * x.shape(2));
  if (positions && positions->size() != rows.size()) {
    fail(ErrorCode::SHAPE, "position_ids: % numbers, expected %", {positions->size(), rows.size()});
  }
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::int64_t row = positions ? (*positions)[n] : static_cast<std::int64_t>(n);
    if (positions && (row < 0 || row >= static_cast<std::int64_t>(cache[0]))) {
      fail(ErrorCode::OPTION, "position_ids: % is not a row of cos_cache %", {row, cache});
    }
    rows[n] = static_cast<std::size_t>(row) * pairs;
  }
  return rows;
}

/// scale broadcast to the normalised axes, flat.
Tensor1 flat_scale(const NdArray& scale, const Shape& normalized, std::size_t width) {
  const auto refuse = [&] {
    fail(ErrorCode::SHAPE, "scale % does not broadcast to the normalised axes of X, %",
         {scale.shape(), normalized});
  };
  if (scale.dimension() > normalized.size()) {
    refuse();
  }
  Tensor1 flat = Tensor1::from_shape({width});
  for (std::size_t n = 0; n < width; ++n) {
    std::size_t rest = n, from = 0, stride = 1;
    for (std::size_t back = 1; back <= scale.dimension(); ++back) {
      const std::size_t size = normalized[normalized.size() - back];
      const std::size_t own = scale.shape(scale.dimension() - back);
      if (own != size && own != 1) {
        refuse();
      }
      from += own == 1 ? 0 : rest % size * stride;
      rest /= size;
      stride *= own;
    }
    flat(n) = scale.data()[from];
  }
  return flat;
}

}  // namespace

AttentionOutputs attention(const AttentionInputs& inputs, const AttentionAttributes& attributes) {
  // 1. heads apart, the past first
  const std::size_t rank = inputs.q.dimension();
  if (inputs.k.dimension() != rank || inputs.v.dimension() != rank) {
    fail(ErrorCode::RANK, "Q %, K %, V %: expected as many axes",
         {inputs.q.shape(), inputs.k.shape(), inputs.v.shape()});
  }
  const Tensor4 q = by_head(inputs.q, attributes.q_num_heads, "Q", "q_num_heads");
  Tensor4 k = by_head(inputs.k, attributes.kv_num_heads, "K", "kv_num_heads");
  Tensor4 v = by_head(inputs.v, attributes.kv_num_heads, "V", "kv_num_heads");
  require_attention_shapes(shape_of(q), shape_of(k), shape_of(v));
  const bool has_past = inputs.past_key.has_value();
  if (has_past != inputs.past_value.has_value()) {
    fail(ErrorCode::OPTION, "past_key and past_value come together");
  }
  std::size_t past = 0;
  if (has_past) {
    past = inputs.past_key->shape(2);
    k = concatenate(*inputs.past_key, k, "past_key");
    v = concatenate(*inputs.past_value, v, "past_value");
    require_attention_shapes(shape_of(q), shape_of(k), shape_of(v));
  }

  // 2. who may attend to what
  AttentionOptions options;
  options.scale = attributes.scale;
  if (attributes.softcap != 0) {
    options.softcap = attributes.softcap;
  }
  options.causal = attributes.is_causal ? Causal::top_left : Causal::none;
  options.window_left = attributes.left_window_size;
  options.window_right = attributes.right_window_size;
  if (inputs.attn_mask) {
    options.masks.push_back(padded_mask(*inputs.attn_mask, k.shape(2)));
  }
  options.query_offsets.assign(q.shape(0), static_cast<std::ptrdiff_t>(past));
  if (inputs.nonpad_kv_seqlen) {
    if (has_past) {
      fail(ErrorCode::OPTION, "nonpad_kv_seqlen and past_key exclude each other");
    }
    options.key_lengths = real_keys(*inputs.nonpad_kv_seqlen, q.shape(0), k.shape(2));
    std::transform(options.key_lengths.begin(), options.key_lengths.end(),
                   options.query_offsets.begin(), [&q](std::size_t length) {
                     return static_cast<std::ptrdiff_t>(length) -
                            static_cast<std::ptrdiff_t>(q.shape(2));
                   });
  }

  // 3. attend
  const auto& stage = attributes.qk_matmul_output;
  AttentionOutputs outputs;
  outputs.y = as_given(flash_attention(q, k, v, options), rank);
  if (stage) {
    Trace trace;
    softlookup::attention(q, k, v, options, &trace);
    outputs.qk_matmul_output = pass(trace, pass_of(*stage, options.softcap.has_value()));
  }
  if (has_past) {
    outputs.present_key = std::move(k);
    outputs.present_value = std::move(v);
  }
  return outputs;
}

NdArray rotary_embedding(const RotaryInputs& inputs, const RotaryAttributes& attributes) {
  Tensor4 x = by_head(inputs.x, attributes.num_heads, "input", "num_heads");
  const std::size_t width = x.shape(3);
  const std::size_t named = attributes.rotary_embedding_dim;
  const std::size_t dims = named == 0 ? width : named;
  if (dims == 0 || dims % 2 != 0 || dims > width) {
    fail(named == 0 ? ErrorCode::SHAPE : ErrorCode::OPTION,
         "rotary_embedding_dim = % must be even and at most the head size %", {dims, width});
  }
  const std::vector<std::size_t> rows = cache_rows(inputs, x, dims / 2);
  std::vector<double> cos(dims / 2), sin(dims / 2);
  for (std::size_t n = 0; n < rows.size(); ++n) {
    std::copy_n(inputs.cos_cache.data() + rows[n], cos.size(), cos.begin());
    std::copy_n(inputs.sin_cache.data() + rows[n], sin.size(), sin.begin());
    for (std::size_t h = 0; h < x.shape(1); ++h) {
      turn_token(&x(n / x.shape(2), h, n % x.shape(2), 0), cos, sin, attributes.layout);
    }
  }
  return as_given(x, inputs.x.dimension());
}

NdArray rms_normalization(const NdArray& x, const NdArray& scale, std::int64_t axis,
                          double epsilon) {
  const Shape shape = shape_of(x);
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < -rank || axis >= rank) {
    fail(ErrorCode::OPTION, "axis = % does not exist in X %", {axis, shape});
  }
  const Shape normalized(shape.begin() + static_cast<std::ptrdiff_t>((axis + rank) % rank),
                         shape.end());
  std::size_t width = 1;
  for (const std::size_t size : normalized) {
    width *= size;
  }
  if (width == 0) {
    fail(ErrorCode::SHAPE, "X %: nothing to normalise over", {shape});
  }
  NdArray rows = x;
  rows.reshape(Shape{x.size() / width, width});
  NdArray y = rms_norm(rows, flat_scale(scale, normalized, width), epsilon);
  y.reshape(shape);
  return y;
}

}  // namespace softlookup::onnx
