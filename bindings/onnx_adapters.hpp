#pragma once

#include <emscripten/val.h>

namespace softlookup::bindings {

using emscripten::val;

// Inputs and attributes by their names in ONNX.

val onnx_attention(const val& inputs, const val& attributes);
val onnx_rotary_embedding(const val& inputs, const val& attributes);
val onnx_rms_normalization(const val& inputs, const val& attributes);

}  // namespace softlookup::bindings
