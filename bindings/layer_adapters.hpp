#pragma once

#include <emscripten/val.h>

namespace softlookup::bindings {

using emscripten::val;

val norm_rows(const val& x, const val& options);
val repeat_heads(const val& x, const val& n);

/// bytes: Uint8Array -> Float32Array
val widen_halves(const val& bytes, const val& format);

}  // namespace softlookup::bindings
