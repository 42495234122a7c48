#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "mask.hpp"
#include "state_dict.hpp"
#include "tensor.hpp"
#include "trace.hpp"
#include "value.hpp"

namespace softlookup::bindings {

// JavaScript -> core. A tensor comes as { data: Float32Array | Uint8Array, shape: number[] }; data
// is copied in. `name` is the argument's name for the error message.

NdArray to_array(const Value& tensor, const char* name);

/// The rank of the tensor must lie in [least, N]; missing leading axes become 1.
template <std::size_t N>
xt::xtensor<float, N> to_tensor(const Value& tensor, const char* name, std::size_t least);

Shape to_shape(const Value& tensor, const char* name);

Mask to_mask(const Value& mask, const char* name = "mask");

/// [S] -> [1, S], for a key mask beside unbatched input; others stay.
Mask with_batch_axis(Mask mask);

StateDict to_state_dict(const Value& names, const Value& tensors);

std::optional<Alignment> to_alignment(const Value& alignment);
PaddingSide to_side(const Value& side);

/// W: the query's own key and W - 1 before it. { left, right }: so many keys on each side, any
/// number where it is left out.
void read_window(const Value& window, MaskSpec& spec);

bool to_flag(const Value& flag, bool otherwise, const char* name);
std::size_t to_size(const Value& number, const char* name);
Shape to_sizes(const Value& numbers, const char* name);

// The property of an object; undefined is nothing, or empty.

bool flag_in(const Value& options, const char* name, bool otherwise);
std::size_t size_in(const Value& options, const char* name);
std::optional<Mask> optional_mask_in(const Value& options, const char* name);
std::optional<float> optional_number_in(const Value& options, const char* name);
std::vector<float> numbers_in(const Value& options, const char* name);
Causal causal_in(const Value& options);

std::size_t rank_of(const Value& tensor);

// Core -> JavaScript (answer.hpp). The first `dropped` axes, all of size 1, are left out of the
// shape.

template <class Array>
void give_shape(const Array& array, std::size_t dropped = 0) {
  give_sizes(array.shape().data() + dropped, array.dimension() - dropped);
}

/// { data, shape }
template <class Array>
void give_tensor(const Array& array, std::size_t dropped = 0) {
  give_array(array.data(), array.size());
  give_shape(array, dropped);
  give_object("data shape");
}

/// The same, with the numbers in `out`, a Float32Array of the caller's, unless that is undefined.
template <class Array>
void give_tensor_into(const Value& out, const Array& array, std::size_t dropped) {
  if (out.is_undefined()) {
    give_tensor(array, dropped);
    return;
  }
  give_into(out, array.data(), array.size());
  give_shape(array, dropped);
  give_object("data shape");
}

/// What an attention answers once it gave its output: { output }, and { weights } where they were
/// asked for.
template <class Array>
void give_with_weights(bool need_weights, const Array& weights, std::size_t dropped) {
  if (need_weights) {
    give_tensor(weights, dropped);
  } else {
    give_nothing();
  }
  give_object("output weights");
}

/// Throws SHAPE when `out` is given and has not as many elements as the shape.
void require_out(const Value& out, const Shape& shape);

void give_mask(const Mask& mask);
void give_trace(const Trace& trace, std::size_t dropped);

}  // namespace softlookup::bindings
