#pragma once

#include "value.hpp"

namespace softlookup::bindings {

void norm_rows(const Value& x, const Value& options);
void repeat_heads(const Value& x, const Value& n);

/// bytes: Uint8Array -> Float32Array
void widen_halves(const Value& bytes, const Value& format);

}  // namespace softlookup::bindings
