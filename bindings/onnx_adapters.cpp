#include "onnx_adapters.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "onnx.hpp"
#include "rope_convert.hpp"

namespace softlookup::bindings {

namespace {

std::int64_t to_integer(const Value& number, std::int64_t otherwise, const char* name) {
  constexpr double kLargest = 2147483647;
  const double value = to_double(number, static_cast<double>(otherwise), name);
  if (!(std::abs(value) <= kLargest) || std::trunc(value) != value) {
    fail(ErrorCode::OPTION, "% must be a whole number", {name});
  }
  return static_cast<std::int64_t>(value);
}

/// ONNX knows no booleans in attributes: 0 or 1.
bool to_bit(const Value& flag, const char* name) {
  if (flag.is_true() || flag.is_false()) {
    return flag.is_true();
  }
  const std::int64_t bit = to_integer(flag, 0, name);
  if (bit != 0 && bit != 1) {
    fail(ErrorCode::OPTION, "% must be 0 or 1", {name});
  }
  return bit == 1;
}

std::size_t to_count(const Value& number, const char* name) {
  return number.is_undefined() ? 0 : to_size(number, name);
}

/// Negative or undefined: no bound.
std::optional<std::size_t> to_window(const Value& number, const char* name) {
  const std::int64_t size = to_integer(number, -1, name);
  return size < 0 ? std::nullopt : std::optional<std::size_t>(size);
}

std::optional<Tensor4> to_past(const Value& tensor, const char* name) {
  return tensor.is_undefined() ? std::nullopt
                               : std::optional<Tensor4>(to_tensor<4>(tensor, name, 4));
}

std::optional<onnx::ScoreStage> to_stage(const Value& mode) {
  if (mode.is_undefined()) {
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
      fail(ErrorCode::OPTION, "qk_matmul_output_mode must be 0, 1, 2 or 3");
  }
}

/// Float types by their numbers in TensorProto. Whichever is named, exp and sums run in double
/// precision and are kept in float32.
void require_float_type(const Value& type, const char* name) {
  constexpr int kFloat = 1, kFloat16 = 10, kDouble = 11, kBfloat16 = 16;
  const std::int64_t number = to_integer(type, kFloat, name);
  if (number != kFloat && number != kFloat16 && number != kDouble && number != kBfloat16) {
    fail(ErrorCode::OPTION, "% must be 1 (FLOAT), 10 (FLOAT16), 11 (DOUBLE) or 16 (BFLOAT16)",
         {name});
  }
}

/// Whole numbers of a shape that is wanted.
std::vector<std::int64_t> to_integers(const Value& array, const Shape& wanted, const char* name) {
  PositionArray integers = to_position_array(array, name);
  if (integers.shape != wanted) {
    fail(ErrorCode::SHAPE, "% %, expected %", {name, integers.shape, wanted});
  }
  return std::move(integers.values);
}

void give_optional(const std::optional<Tensor4>& tensor) {
  if (tensor) {
    give_tensor(*tensor);
  } else {
    give_nothing();
  }
}

}  // namespace

void onnx_attention(const Value& inputs_in, const Value& attributes_in) {
  onnx::AttentionInputs inputs;
  inputs.q = to_array(inputs_in.get("Q"), "Q");
  inputs.k = to_array(inputs_in.get("K"), "K");
  inputs.v = to_array(inputs_in.get("V"), "V");
  inputs.attn_mask = optional_mask_in(inputs_in, "attn_mask");
  inputs.past_key = to_past(inputs_in.get("past_key"), "past_key");
  inputs.past_value = to_past(inputs_in.get("past_value"), "past_value");
  const Value& lengths = inputs_in.get("nonpad_kv_seqlen");
  if (!lengths.is_undefined() && inputs.q.dimension() > 0) {
    inputs.nonpad_kv_seqlen = to_integers(lengths, Shape{inputs.q.shape(0)}, "nonpad_kv_seqlen");
  }

  onnx::AttentionAttributes attributes;
  attributes.is_causal = to_bit(attributes_in.get("is_causal"), "is_causal");
  attributes.q_num_heads = to_count(attributes_in.get("q_num_heads"), "q_num_heads");
  attributes.kv_num_heads = to_count(attributes_in.get("kv_num_heads"), "kv_num_heads");
  attributes.scale = optional_number_in(attributes_in, "scale");
  attributes.softcap = optional_number_in(attributes_in, "softcap").value_or(0.0F);
  attributes.left_window_size =
      to_window(attributes_in.get("left_window_size"), "left_window_size");
  attributes.right_window_size =
      to_window(attributes_in.get("right_window_size"), "right_window_size");
  attributes.qk_matmul_output = to_stage(attributes_in.get("qk_matmul_output_mode"));
  require_float_type(attributes_in.get("softmax_precision"), "softmax_precision");

  const onnx::AttentionOutputs outputs = onnx::attention(inputs, attributes);
  give_tensor(outputs.y);
  give_optional(outputs.present_key);
  give_optional(outputs.present_value);
  give_optional(outputs.qk_matmul_output);
  give_object("Y present_key present_value qk_matmul_output");
}

void onnx_rotary_embedding(const Value& inputs_in, const Value& attributes_in) {
  onnx::RotaryInputs inputs;
  inputs.x = to_array(inputs_in.get("input"), "input");
  inputs.cos_cache = to_array(inputs_in.get("cos_cache"), "cos_cache");
  inputs.sin_cache = to_array(inputs_in.get("sin_cache"), "sin_cache");
  const Value& positions = inputs_in.get("position_ids");
  if (!positions.is_undefined() && inputs.x.dimension() >= 3) {
    const std::size_t length = inputs.x.shape(inputs.x.dimension() == 3 ? 1 : 2);
    inputs.position_ids = to_integers(positions, Shape{inputs.x.shape(0), length}, "position_ids");
  }

  onnx::RotaryAttributes attributes;
  attributes.layout = to_bit(attributes_in.get("interleaved"), "interleaved")
                          ? RopeLayout::interleaved
                          : RopeLayout::half;
  attributes.num_heads = to_count(attributes_in.get("num_heads"), "num_heads");
  attributes.rotary_embedding_dim =
      to_count(attributes_in.get("rotary_embedding_dim"), "rotary_embedding_dim");
  give_tensor(onnx::rotary_embedding(inputs, attributes));
}

void onnx_rms_normalization(const Value& inputs, const Value& attributes) {
  require_float_type(attributes.get("stash_type"), "stash_type");
  give_tensor(onnx::rms_normalization(to_array(inputs.get("X"), "X"),
                                      to_array(inputs.get("scale"), "scale"),
                                      to_integer(attributes.get("axis"), -1, "axis"),
                                      to_double(attributes.get("epsilon"), 1e-5, "epsilon")));
}

}  // namespace softlookup::bindings
