#include "attention_call.hpp"

#include <utility>

#include "attention_checks.hpp"
#include "convert.hpp"

namespace softlookup::bindings {

AttentionCall::AttentionCall(const Value& q_in, const Value& k_in, const Value& v_in) {
  require_attention_shapes(to_shape(q_in, "q"), to_shape(k_in, "k"), to_shape(v_in, "v"));
  q = to_tensor<4>(q_in, "q", 2);
  k = to_tensor<4>(k_in, "k", 2);
  v = to_tensor<4>(v_in, "v", 2);
  dropped = 4 - rank_of(q_in);
}

AttentionCall::AttentionCall(const Value& q_in, const Value& k_in, const Value& v_in,
                             const Value& options_in)
    : AttentionCall(q_in, k_in, v_in) {
  if (auto mask = optional_mask_in(options_in, "mask")) {
    options.masks.push_back(std::move(*mask));
  }
  options.causal = causal_in(options_in);
  options.scale = optional_number_in(options_in, "scale");
  options.softcap = optional_number_in(options_in, "softcap");
  options.alignment = to_alignment(options_in.get("align"));
  read_window(options_in.get("window"), options);
  options.sinks = numbers_in(options_in, "sinks");
  options.alibi_slopes = numbers_in(options_in, "alibiSlopes");
  if (options_in.has("keyLengths")) {
    options.key_lengths = to_sizes(options_in.get("keyLengths"), "keyLengths");
  }
}

}  // namespace softlookup::bindings
