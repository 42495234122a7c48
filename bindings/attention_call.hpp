#pragma once

#include <cstddef>

#include "attention.hpp"
#include "value.hpp"

namespace softlookup::bindings {

/// The arguments of an attention as JavaScript gives them, checked and copied in.
struct AttentionCall {
  Tensor4 q, k, v;
  AttentionOptions options;
  std::size_t dropped;  // leading axes that the caller did not have

  AttentionCall(const Value& q_in, const Value& k_in, const Value& v_in);
  AttentionCall(const Value& q_in, const Value& k_in, const Value& v_in, const Value& options_in);
};

inline Branch branch_for(bool need_weights) {
  return need_weights ? Branch::with_weights : Branch::fast;
}

}  // namespace softlookup::bindings
