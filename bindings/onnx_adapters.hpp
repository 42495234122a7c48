#pragma once

#include "value.hpp"

namespace softlookup::bindings {

// Inputs and attributes by their names in ONNX.

void onnx_attention(const Value& inputs, const Value& attributes);
void onnx_rotary_embedding(const Value& inputs, const Value& attributes);
void onnx_rms_normalization(const Value& inputs, const Value& attributes);

}  // namespace softlookup::bindings
