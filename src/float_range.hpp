#pragma once

#include <algorithm>
#include <limits>

namespace softlookup {

/// A number beyond float32 counts as the largest float of its sign, so that only a mask is ever
/// -Infinity and equal overflows stay equal; NaN stays NaN.
inline float within_float_range(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMax, kMax));
}

}  // namespace softlookup
