#pragma once

#include <emscripten/val.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mask.hpp"
#include "tensor.hpp"
#include "trace.hpp"

namespace softlookup::bindings {

using emscripten::val;

// JavaScript -> core. A tensor comes as { data: Float32Array | Uint8Array, shape: number[] }; data
// is copied in. `name` is the argument's name for the error message.

NdArray to_array(const val& tensor, const std::string& name);

/// The rank of the tensor must lie in [least, N]; missing leading axes become 1.
template <std::size_t N>
xt::xtensor<float, N> to_tensor(const val& tensor, const std::string& name, std::size_t least);

Shape to_shape(const val& tensor, const std::string& name);

Mask to_mask(const val& mask);

/// undefined -> nothing
std::optional<Mask> to_optional_mask(const val& mask);

Causal to_causal(const val& causal);
std::optional<float> to_optional_number(const val& number, const std::string& name);
bool to_flag(const val& flag, bool otherwise, const std::string& name);
std::size_t to_size(const val& number, const std::string& name);
Shape to_sizes(const val& numbers, const std::string& name);

std::size_t rank_of(const val& tensor);

// Core -> JavaScript: fresh arrays that JavaScript owns, never views of WebAssembly memory. The
// first `dropped` axes, all of size 1, are left out of the shape.

val from_array(const NdArray& array, std::size_t dropped = 0);
val from_mask(const Mask& mask);
val from_trace(const Trace& trace, std::size_t dropped);

}  // namespace softlookup::bindings
