#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace softlookup {

/// A number beyond float32 counts as the largest float of its sign, so that only a mask is ever
/// -Infinity and equal overflows stay equal; NaN stays NaN.
inline float within_float_range(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMax, kMax));
}

/// The same for a finite number; an infinity, which only an input can have brought in, stays one.
[[gnu::noinline]] inline float to_float(double value) {
  return std::isinf(value) ? static_cast<float>(value) : within_float_range(value);
}

}  // namespace softlookup
