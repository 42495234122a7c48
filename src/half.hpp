#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace softlookup {

/// The two formats of 16 bits, both exact in float32.
enum class HalfFormat {
  float16,  // IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits
  bfloat16  // the upper half of a float32
};

/// The float32 of the same value: subnormals, -0 and infinities included; a NaN keeps its sign and
/// its payload.
float widen(std::uint16_t half, HalfFormat format);

/// Numbers stored one after the other, the low byte first. An odd byte at the end is left out.
std::vector<float> widen(const std::vector<std::uint8_t>& bytes, HalfFormat format);

}  // namespace softlookup
