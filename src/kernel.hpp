#pragma once

#include <cstddef>

#include "panels.hpp"

// The inner loops of the fast branch, in Highway's portable SIMD: WebAssembly's 128 bits, natively
// the best that the machine has (AVX2 and up). Every number comes from the same operations in the
// same order whichever of the forms below computes it, so that a row's bits do not depend on how
// many rows are asked for at once.

namespace softlookup::kernel {

/// Panels of A: `rows` rows (a multiple of eight), panel to panel `stride` floats.
struct PanelsOf {
  const float* data;
  std::size_t stride;
  std::size_t rows;
};

inline constexpr float kUnshrunk[kPanel] = {1, 1, 1, 1, 1, 1, 1, 1};

/// C = A B, or C = C · shrink + A B where a shrink [8] is given: A [rows, depth] in panels, B
/// [depth, 8], C [rows, 8]. Panel elements are broadcast, lanes of B multiplied: no shuffle, no
/// horizontal sum.
void multiply_lanes(const PanelsOf& a, std::size_t depth, const float* b, float* c,
                    const float* shrink);

/// Few rows: C = B Aᵀ, or C += B Aᵀ: B [count, depth] with row stride `b_stride`, C [count, rows]
/// with row stride `c_stride`.
void multiply_rows(const PanelsOf& a, std::size_t depth, const float* b, std::size_t b_stride,
                   std::size_t count, float* c, std::size_t c_stride, bool add);

/// The running softmax of one row (Milakov and Gimelshein 2018; FlashAttention's algorithm 1):
/// largest score so far, and sums of exp(score - max), key j in sum j % 4.
///
/// Eight rows side by side: scores [keys, 8] become exp(score - max); max [8] and sums [4, 8] are
/// updated; shrink [8] is what everything summed before has to be multiplied with.
void soften_lanes(float* scores, std::size_t keys, float* max, float* sums, float* shrink);

/// One row: scores [keys], room for a multiple of four; max [1], sums [4], shrink [1].
void soften_row(float* scores, std::size_t keys, float* max, float* sums, float* shrink);

/// scores [count] += biases [count], -Infinity where a bias is -Infinity whatever the score was;
/// `count` a multiple of eight.
void add_biases(float* scores, const float* biases, std::size_t count);

/// to[c * 8 + r] = from[r * stride + c] * factor for r < 8 and c < count
void rows_to_lanes(const float* from, std::size_t stride, std::size_t count, float factor,
                   float* to);

/// to[r * stride + c] = from[c * 8 + r] for r < 8 and c < count, 0 never negative. Whether all of
/// it is finite.
bool lanes_to_rows(const float* from, std::size_t count, float* to, std::size_t stride);

/// c [count] *= factor, `count` a multiple of eight
void scale_row(float* c, std::size_t count, float factor);

/// to [count] = from [count] / divisor, 0 never negative; the two may be one. Whether all of it is
/// finite.
bool divide_row(const float* from, std::size_t count, float divisor, float* to);

}  // namespace softlookup::kernel
