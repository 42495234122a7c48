#include "catch.hpp"
#include "golden.hpp"
#include "onnx.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

NdArray array_of(const GoldenCase& golden, const std::string& input) {
  const Numbers& values = golden.input(input);
  return nd_array(values.shape, {values.data.begin(), values.data.end()});
}

std::optional<std::vector<std::int64_t>> integers_of(const GoldenCase& golden,
                                                     const std::string& input) {
  if (!golden.has_input(input)) {
    return std::nullopt;
  }
  const Numbers& values = golden.input(input);
  return std::vector<std::int64_t>(values.data.begin(), values.data.end());
}

double attribute(const GoldenCase& golden, const std::string& name, double otherwise) {
  return golden.has_param("attributes." + name) ? golden.number("attributes." + name) : otherwise;
}

std::size_t count_of(const GoldenCase& golden, const std::string& name) {
  return static_cast<std::size_t>(attribute(golden, name, 0));
}

std::optional<std::size_t> window_of(const GoldenCase& golden, const std::string& name) {
  const double size = attribute(golden, name, -1);
  return size < 0 ? std::nullopt : std::optional<std::size_t>(static_cast<std::size_t>(size));
}

void run_attention(const GoldenCase& golden, GoldenCheck& check) {
  onnx::AttentionInputs inputs{
      array_of(golden, "Q"), array_of(golden, "K"), array_of(golden, "V"), {}, {}, {}, {}};
  if (golden.has_input("attn_mask")) {
    inputs.attn_mask = golden.mask("attn_mask");
  }
  if (golden.has_input("past_key")) {
    inputs.past_key = tensor4(golden.input("past_key"));
    inputs.past_value = tensor4(golden.input("past_value"));
  }
  inputs.nonpad_kv_seqlen = integers_of(golden, "nonpad_kv_seqlen");

  onnx::AttentionAttributes attributes;
  attributes.is_causal = attribute(golden, "is_causal", 0) == 1;
  attributes.q_num_heads = count_of(golden, "q_num_heads");
  attributes.kv_num_heads = count_of(golden, "kv_num_heads");
  if (golden.has_param("attributes.scale")) {
    attributes.scale = static_cast<float>(golden.number("attributes.scale"));
  }
  attributes.softcap = static_cast<float>(attribute(golden, "softcap", 0));
  attributes.left_window_size = window_of(golden, "left_window_size");
  attributes.right_window_size = window_of(golden, "right_window_size");
  if (golden.outputs.count("qk_matmul_output") != 0) {
    attributes.qk_matmul_output =
        static_cast<onnx::ScoreStage>(attribute(golden, "qk_matmul_output_mode", 0));
  }

  const onnx::AttentionOutputs outputs = onnx::attention(inputs, attributes);
  check("Y", numbers(outputs.y));
  CHECK(outputs.present_key.has_value() == golden.has_input("past_key"));
  if (outputs.present_key) {
    check("present_key", numbers(*outputs.present_key));
    check("present_value", numbers(*outputs.present_value));
  }
  if (outputs.qk_matmul_output) {
    check("qk_matmul_output", numbers(*outputs.qk_matmul_output));
  }
}

void run_rotary_embedding(const GoldenCase& golden, GoldenCheck& check) {
  const onnx::RotaryInputs inputs{array_of(golden, "input"), array_of(golden, "cos_cache"),
                                  array_of(golden, "sin_cache"),
                                  integers_of(golden, "position_ids")};
  onnx::RotaryAttributes attributes;
  if (attribute(golden, "interleaved", 0) == 1) {
    attributes.layout = RopeLayout::interleaved;
  }
  attributes.num_heads = count_of(golden, "num_heads");
  attributes.rotary_embedding_dim = count_of(golden, "rotary_embedding_dim");
  check("output", numbers(onnx::rotary_embedding(inputs, attributes)));
}

void run_rms_normalization(const GoldenCase& golden, GoldenCheck& check) {
  const auto axis = static_cast<std::int64_t>(attribute(golden, "axis", -1));
  check("Y", numbers(onnx::rms_normalization(array_of(golden, "X"), array_of(golden, "W"), axis,
                                             attribute(golden, "epsilon", 1e-5))));
}

onnx::AttentionInputs three_by_three() {
  const auto x = nd_array({1, 1, 3, 1}, {1, 2, 3});
  return {x, x, x, {}, {}, {}, {}};
}

}  // namespace

TEST_CASE("golden: ONNX's Attention, RotaryEmbedding and RMSNormalization") {
  run_golden("onnx_attention", 74, [](const GoldenCase& golden, GoldenCheck& check) {
    const auto is = [&golden](const char* op) { return golden.name.find(op) != std::string::npos; };
    if (is("_RotaryEmbedding_")) {
      run_rotary_embedding(golden, check);
    } else if (is("_RMSNormalization_")) {
      run_rms_normalization(golden, check);
    } else {
      REQUIRE(is("_Attention_"));
      run_attention(golden, check);
    }
  });
}

TEST_CASE("onnx: a short mask hides what it does not reach, also with one column") {
  onnx::AttentionInputs inputs = three_by_three();
  inputs.attn_mask = keep({1}, {1});
  CHECK(mismatch(numbers(onnx::attention(inputs, {}).y), {{1, 1, 3, 1}, {1, 1, 1}}, kExact) == "");
  inputs.attn_mask = bias({3, 0}, {});
  CHECK(mismatch(numbers(onnx::attention(inputs, {}).y), {{1, 1, 3, 1}, {0, 0, 0}}, kExact) == "");
}

TEST_CASE("onnx: a scale is broadcast over the normalised axes") {
  const auto x = nd_array({1, 2, 2}, {1, -1, 1, -1});
  const auto y = onnx::rms_normalization(x, nd_array({2, 1}, {2, 3}), -2, 0);
  CHECK(mismatch(numbers(y), {{1, 2, 2}, {2, -2, 3, -3}}, kExact) == "");
}

TEST_CASE("onnx: what does not fit is refused") {
  using onnx::AttentionAttributes;
  using onnx::AttentionInputs;
  const auto attend =
      [](const std::function<void(AttentionInputs&, AttentionAttributes&)>& change) {
        return [change] {
          AttentionInputs inputs = three_by_three();
          AttentionAttributes attributes;
          change(inputs, attributes);
          static_cast<void>(onnx::attention(inputs, attributes));
        };
      };
  const Tensor4 past = tensor4({1, 1, 2, 1}, {1, 2});
  CHECK(refusal(ErrorCode::RANK, {"Q [3, 1]"}, attend([](auto& in, auto&) {
                  in.q = in.k = in.v = nd_array({3, 1}, {1, 2, 3});
                })) == "");
  CHECK(refusal(ErrorCode::RANK, {"K [1, 3, 1]"}, attend([](auto& in, auto&) {
                  in.k = nd_array({1, 3, 1}, {1, 2, 3});
                })) == "");
  CHECK(refusal(ErrorCode::HEADS, {"q_num_heads", "[1, 3, 1]"}, attend([](auto& in, auto&) {
                  in.q = in.k = in.v = nd_array({1, 3, 1}, {1, 2, 3});
                })) == "");
  CHECK(refusal(ErrorCode::HEADS, {"kv_num_heads = 2"},
                attend([](auto&, auto& set) { set.kv_num_heads = 2; })) == "");
  CHECK(refusal(ErrorCode::OPTION, {"past_key", "past_value"},
                attend([&](auto& in, auto&) { in.past_key = past; })) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"past_value [1, 2, 1, 1]"}, attend([&](auto& in, auto&) {
                  in.past_key = past;
                  in.past_value = tensor4({1, 2, 1, 1}, {1, 2});
                })) == "");
  CHECK(refusal(ErrorCode::OPTION, {"nonpad_kv_seqlen", "past_key"}, attend([&](auto& in, auto&) {
                  in.past_key = in.past_value = past;
                  in.nonpad_kv_seqlen = {3};
                })) == "");
  CHECK(refusal(ErrorCode::OPTION, {"nonpad_kv_seqlen: 4"},
                attend([](auto& in, auto&) { in.nonpad_kv_seqlen = {4}; })) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"nonpad_kv_seqlen [2]"}, attend([](auto& in, auto&) {
                  in.nonpad_kv_seqlen = {1, 1};
                })) == "");
  CHECK(refusal(ErrorCode::MASK_SHAPE, {"[4, 3]"}, attend([](auto& in, auto&) {
                  in.attn_mask = keep({4, 3}, std::vector<std::uint8_t>(12, 1));
                })) == "");
  CHECK(refusal(ErrorCode::MASK_SHAPE, {"[1, 1, 1, 1, 3]"}, attend([](auto& in, auto&) {
                  in.attn_mask = keep({1, 1, 1, 1, 3}, {1, 1, 1});
                })) == "");
  CHECK(refusal(ErrorCode::OPTION, {"softcap"},
                attend([](auto&, auto& set) { set.softcap = -1; })) == "");

  const auto x = nd_array({1, 1, 2, 2}, {1, 2, 3, 4});
  const auto rotate = [&x](const NdArray& cos, const NdArray& sin,
                           std::optional<std::vector<std::int64_t>> positions, std::size_t dims) {
    return [=] {
      static_cast<void>(
          onnx::rotary_embedding({x, cos, sin, positions}, {RopeLayout::half, 0, dims}));
    };
  };
  const auto table = nd_array({2, 1}, {1, 1});
  const std::vector<std::int64_t> positions{0, 1};
  CHECK(refusal(ErrorCode::SHAPE, {"cos_cache [2, 1]", "[1, 2, 1]"},
                rotate(table, table, std::nullopt, 0)) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"sin_cache [1, 1]"},
                rotate(table, nd_array({1, 1}, {1}), positions, 0)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"position_ids: 2"},
                rotate(table, table, std::vector<std::int64_t>{0, 2}, 0)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"position_ids: -1"},
                rotate(table, table, std::vector<std::int64_t>{-1, 0}, 0)) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"position_ids"},
                rotate(table, table, std::vector<std::int64_t>{0}, 0)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"rotary_embedding_dim = 4"},
                rotate(table, table, positions, 4)) == "");

  const auto norm = [&x](const NdArray& scale, std::int64_t axis, double epsilon) {
    return [=] { static_cast<void>(onnx::rms_normalization(x, scale, axis, epsilon)); };
  };
  const auto one = nd_array({1}, {1});
  CHECK(refusal(ErrorCode::OPTION, {"axis = 4", "[1, 1, 2, 2]"}, norm(one, 4, 0)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"axis = -5"}, norm(one, -5, 0)) == "");
  CHECK(refusal(ErrorCode::SHAPE, {"scale [3]", "[2]"}, norm(nd_array({3}, {1, 1, 1}), -1, 0)) ==
        "");
  CHECK(refusal(ErrorCode::SHAPE, {"scale [1, 2]"}, norm(nd_array({1, 2}, {1, 1}), -1, 0)) == "");
  CHECK(refusal(ErrorCode::OPTION, {"eps"}, norm(one, -1, -1)) == "");
}
