#include "half.hpp"

#include <cstring>

namespace softlookup {

namespace {

float with_bits(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The float32 pattern of a binary16 pattern.
std::uint32_t widen_float16(std::uint32_t half) {
  constexpr std::uint32_t kBias = 127 - 15, kLargest = 0xFF;
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  std::uint32_t exponent = half >> 10U & 0x1FU;
  std::uint32_t fraction = (half & 0x3FFU) << 13U;
  if (exponent == 0x1F) {  // infinity, NaN
    return sign | kLargest << 23U | fraction;
  }
  if (exponent == 0) {
    if (fraction == 0) {
      return sign;
    }
    // subnormal: float32 has room for it as a normal number
    exponent = 1;
    while ((fraction & 1U << 23U) == 0) {
      fraction <<= 1U;
      --exponent;  // below 0 it wraps round, and kBias brings it back
    }
    fraction &= (1U << 23U) - 1;
  }
  return sign | (exponent + kBias) << 23U | fraction;
}

}  // namespace

float widen(std::uint16_t half, HalfFormat format) {
  const std::uint32_t bits = half;
  return with_bits(format == HalfFormat::float16 ? widen_float16(bits) : bits << 16U);
}

std::vector<float> widen(const std::vector<std::uint8_t>& bytes, HalfFormat format) {
  std::vector<float> values(bytes.size() / 2);
  for (std::size_t n = 0; n < values.size(); ++n) {
    const unsigned low = bytes[2 * n], high = bytes[2 * n + 1];
    values[n] = widen(static_cast<std::uint16_t>(high << 8U | low), format);
  }
  return values;
}

}  // namespace softlookup
