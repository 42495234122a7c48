#include "onnx_adapters.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert.hpp"
#include "error.hpp"
#include "onnx.hpp"
#include "property.hpp"
#include "rope_convert.hpp"

namespace softlookup::bindings {

namespace {

std::int64_t to_integer(const val& number, std::int64_t otherwise, std::string_view name) {
  constexpr double kLargest = 2147483647;
  const double value = to_double(number, static_cast<double>(otherwise), name);
  if (!(std::abs(value) <= kLargest) || std::trunc(value) != value) {
    throw Error(ErrorCode::OPTION, {name, " must be a whole number"});
  }
  return static_cast<std::int64_t>(value);
}

/// ONNX knows no booleans in attributes: 0 or 1.
bool to_bit(const val& flag, std::string_view name) {
  if (flag.isTrue() || flag.isFalse()) {
    return flag.isTrue();
  }
  const std::int64_t bit = to_integer(flag, 0, name);
  if (bit != 0 && bit != 1) {
    throw Error(ErrorCode::OPTION, {name, " must be 0 or 1"});
  }
  return bit == 1;
}

std::size_t to_count(const val& number, std::string_view name) {
  return number.isUndefined() ? 0 : to_size(number, name);
}

/// Negative or undefined: no bound.
std::optional<std::size_t> to_window(const val& number, std::string_view name) {
  const std::int64_t size = to_integer(number, -1, name);
  return size < 0 ? std::nullopt : std::optional<std::size_t>(size);
}

std::optional<Tensor4> to_past(const val& tensor, std::string_view name) {
  return tensor.isUndefined() ? std::nullopt
                              : std::optional<Tensor4>(to_tensor<4>(tensor, name, 4));
}

std::optional<onnx::ScoreStage> to_stage(const val& mode) {
  if (mode.isUndefined()) {
    return std::nullopt;
  }
  switch (to_integer(mode, 0, "qk_matmul_output_mode")) {
    case 0:
      return onnx::ScoreStage::scaled;
    case 1:
      return onnx::ScoreStage::capped;
    case 2:
      return onnx::ScoreStage::masked;
    case 3:
      return onnx::ScoreStage::weights;
    default:
      throw Error(ErrorCode::OPTION, {"qk_matmul_output_mode must be 0, 1, 2 or 3"});
  }
}

/// Float types by their numbers in TensorProto. Whichever is named, exp and sums run in double
/// precision and are kept in float32.
void require_float_type(const val& type, std::string_view name) {
  constexpr int kFloat = 1, kFloat16 = 10, kDouble = 11, kBfloat16 = 16;
  const std::int64_t number = to_integer(type, kFloat, name);
  if (number != kFloat && number != kFloat16 && number != kDouble && number != kBfloat16) {
    throw Error(ErrorCode::OPTION,
                {name, " must be 1 (FLOAT), 10 (FLOAT16), 11 (DOUBLE) or 16 (BFLOAT16)"});
  }
}

/// Whole numbers of a shape that is wanted.
std::vector<std::int64_t> to_integers(const val& array, const Shape& wanted,
                                      std::string_view name) {
  PositionArray integers = to_position_array(array, name);
  if (integers.shape != wanted) {
    throw Error(ErrorCode::SHAPE,
                {name, " ", shape_text(integers.shape), ", expected ", shape_text(wanted)});
  }
  return std::move(integers.values);
}

}  // namespace

val onnx_attention(const val& inputs_in, const val& attributes_in) {
  onnx::AttentionInputs inputs;
  inputs.q = to_array(get(inputs_in, "Q"), "Q");
  inputs.k = to_array(get(inputs_in, "K"), "K");
  inputs.v = to_array(get(inputs_in, "V"), "V");
  inputs.attn_mask = optional_mask_in(inputs_in, "attn_mask");
  inputs.past_key = to_past(get(inputs_in, "past_key"), "past_key");
  inputs.past_value = to_past(get(inputs_in, "past_value"), "past_value");
  const val lengths = get(inputs_in, "nonpad_kv_seqlen");
  if (!lengths.isUndefined() && inputs.q.dimension() > 0) {
    inputs.nonpad_kv_seqlen = to_integers(lengths, Shape{inputs.q.shape(0)}, "nonpad_kv_seqlen");
  }

  onnx::AttentionAttributes attributes;
  attributes.is_causal = to_bit(get(attributes_in, "is_causal"), "is_causal");
  attributes.q_num_heads = to_count(get(attributes_in, "q_num_heads"), "q_num_heads");
  attributes.kv_num_heads = to_count(get(attributes_in, "kv_num_heads"), "kv_num_heads");
  attributes.scale = optional_number_in(attributes_in, "scale");
  attributes.softcap = optional_number_in(attributes_in, "softcap").value_or(0.0F);
  attributes.left_window_size =
      to_window(get(attributes_in, "left_window_size"), "left_window_size");
  attributes.right_window_size =
      to_window(get(attributes_in, "right_window_size"), "right_window_size");
  attributes.qk_matmul_output = to_stage(get(attributes_in, "qk_matmul_output_mode"));
  require_float_type(get(attributes_in, "softmax_precision"), "softmax_precision");

  const onnx::AttentionOutputs outputs = onnx::attention(inputs, attributes);
  val answer = val::object();
  put(answer, "Y", from_array(outputs.y));
  if (outputs.present_key) {
    put(answer, "present_key", from_array(*outputs.present_key));
    put(answer, "present_value", from_array(*outputs.present_value));
  }
  if (outputs.qk_matmul_output) {
    put(answer, "qk_matmul_output", from_array(*outputs.qk_matmul_output));
  }
  return answer;
}

val onnx_rotary_embedding(const val& inputs_in, const val& attributes_in) {
  onnx::RotaryInputs inputs;
  inputs.x = to_array(get(inputs_in, "input"), "input");
  inputs.cos_cache = to_array(get(inputs_in, "cos_cache"), "cos_cache");
  inputs.sin_cache = to_array(get(inputs_in, "sin_cache"), "sin_cache");
  const val positions = get(inputs_in, "position_ids");
  if (!positions.isUndefined() && inputs.x.dimension() >= 3) {
    const std::size_t length = inputs.x.shape(inputs.x.dimension() == 3 ? 1 : 2);
    inputs.position_ids = to_integers(positions, Shape{inputs.x.shape(0), length}, "position_ids");
  }

  onnx::RotaryAttributes attributes;
  attributes.layout = to_bit(get(attributes_in, "interleaved"), "interleaved")
                          ? RopeLayout::interleaved
                          : RopeLayout::half;
  attributes.num_heads = to_count(get(attributes_in, "num_heads"), "num_heads");
  attributes.rotary_embedding_dim =
      to_count(get(attributes_in, "rotary_embedding_dim"), "rotary_embedding_dim");
  return from_array(onnx::rotary_embedding(inputs, attributes));
}

val onnx_rms_normalization(const val& inputs, const val& attributes) {
  require_float_type(get(attributes, "stash_type"), "stash_type");
  return from_array(onnx::rms_normalization(
      to_array(get(inputs, "X"), "X"), to_array(get(inputs, "scale"), "scale"),
      to_integer(get(attributes, "axis"), -1, "axis"),
      to_double(get(attributes, "epsilon"), 1e-5, "epsilon")));
}

}  // namespace softlookup::bindings
