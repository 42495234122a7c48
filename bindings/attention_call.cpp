#include "attention_call.hpp"

#include <utility>

#include "convert.hpp"
#include "property.hpp"

namespace softlookup::bindings {

AttentionCall::AttentionCall(const val& q_in, const val& k_in, const val& v_in) {
  require_attention_shapes(to_shape(q_in, "q"), to_shape(k_in, "k"), to_shape(v_in, "v"));
  q = to_tensor<4>(q_in, "q", 2);
  k = to_tensor<4>(k_in, "k", 2);
  v = to_tensor<4>(v_in, "v", 2);
  dropped = 4 - rank_of(q_in);
}

AttentionCall::AttentionCall(const val& q_in, const val& k_in, const val& v_in,
                             const val& options_in)
    : AttentionCall(q_in, k_in, v_in) {
  if (auto mask = to_optional_mask(get(options_in, "mask"), "mask")) {
    options.masks.push_back(std::move(*mask));
  }
  options.causal = to_causal(get(options_in, "causal"));
  options.scale = to_optional_number(get(options_in, "scale"), "scale");
  options.softcap = to_optional_number(get(options_in, "softcap"), "softcap");
  options.alignment = to_alignment(get(options_in, "align"));
  read_window(get(options_in, "window"), options);
  options.sinks = to_numbers(get(options_in, "sinks"), "sinks");
  options.alibi_slopes = to_numbers(get(options_in, "alibiSlopes"), "alibiSlopes");
  if (!get(options_in, "keyLengths").isUndefined()) {
    options.key_lengths = to_sizes(get(options_in, "keyLengths"), "keyLengths");
  }
}

val attention_answer(const AttentionResult& result, bool need_weights, const val& out,
                     std::size_t dropped) {
  val answer = val::object();
  put(answer, "output", from_array_into(out, result.output, dropped));
  if (need_weights) {
    put(answer, "weights", from_array(result.weights, dropped));
  }
  return answer;
}

}  // namespace softlookup::bindings
