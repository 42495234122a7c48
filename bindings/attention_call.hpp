#pragma once

#include <emscripten/val.h>

#include <cstddef>

#include "attention.hpp"

namespace softlookup::bindings {

/// The arguments of an attention as JavaScript gives them, checked and copied in.
struct AttentionCall {
  Tensor4 q, k, v;
  AttentionOptions options;
  std::size_t dropped;  // leading axes that the caller did not have

  AttentionCall(const emscripten::val& q_in, const emscripten::val& k_in,
                const emscripten::val& v_in);
  AttentionCall(const emscripten::val& q_in, const emscripten::val& k_in,
                const emscripten::val& v_in, const emscripten::val& options_in);
};

inline Branch branch_for(bool need_weights) {
  return need_weights ? Branch::with_weights : Branch::fast;
}

}  // namespace softlookup::bindings
