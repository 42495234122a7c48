#pragma once

#include <emscripten/val.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mask.hpp"
#include "state_dict.hpp"
#include "tensor.hpp"
#include "trace.hpp"

namespace softlookup::bindings {

using emscripten::val;

// JavaScript -> core. A tensor comes as { data: Float32Array | Uint8Array, shape: number[] }; data
// is copied in. `name` is the argument's name for the error message.

NdArray to_array(const val& tensor, std::string_view name);

/// The rank of the tensor must lie in [least, N]; missing leading axes become 1.
template <std::size_t N>
xt::xtensor<float, N> to_tensor(const val& tensor, std::string_view name, std::size_t least);

Shape to_shape(const val& tensor, std::string_view name);

Mask to_mask(const val& mask, std::string_view name = "mask");

/// undefined -> nothing
std::optional<Mask> to_optional_mask(const val& mask, std::string_view name = "mask");

/// [S] -> [1, S], for a key mask beside unbatched input; others stay.
Mask with_batch_axis(Mask mask);

StateDict to_state_dict(const val& names, const val& tensors);

Causal to_causal(const val& causal);
std::optional<Alignment> to_alignment(const val& alignment);
PaddingSide to_side(const val& side);

/// W: the query's own key and W - 1 before it. { left, right }: so many keys on each side, any
/// number where it is left out.
void read_window(const val& window, MaskSpec& spec);

/// undefined -> empty; otherwise a vector.
std::vector<float> to_numbers(const val& tensor, std::string_view name);
std::optional<float> to_optional_number(const val& number, std::string_view name);
bool to_flag(const val& flag, bool otherwise, std::string_view name);
std::size_t to_size(const val& number, std::string_view name);
Shape to_sizes(const val& numbers, std::string_view name);

// The same of a property, one function each.

bool flag_in(const val& options, const char* name, bool otherwise);
std::size_t size_in(const val& options, const char* name);
std::optional<Mask> optional_mask_in(const val& options, const char* name);
std::optional<float> optional_number_in(const val& options, const char* name);
std::vector<float> numbers_in(const val& options, const char* name);
Causal causal_in(const val& options);

std::size_t rank_of(const val& tensor);

// Core -> JavaScript: fresh arrays that JavaScript owns, never views of WebAssembly memory. The
// first `dropped` axes, all of size 1, are left out of the shape.

val from_array(const NdArray& array, std::size_t dropped = 0);

/// The same into `out`, a Float32Array of the caller's, unless that is undefined.
val from_array_into(const val& out, const NdArray& array, std::size_t dropped);

/// Throws SHAPE when `out` is given and has not as many elements as the shape.
void require_out(const val& out, const Shape& shape);

/// { output }, and { weights } where they were asked for.
val attention_answer(const val& output, bool need_weights, const NdArray& weights,
                     std::size_t dropped);

val from_mask(const Mask& mask);
val from_trace(const Trace& trace, std::size_t dropped);

}  // namespace softlookup::bindings
