#include "half.hpp"

#include <cmath>
#include <cstring>

#include "catch.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

/// The number that a pattern of 1 sign, `exponents` exponent and `fractions` fraction bits stands
/// for, by IEEE 754's words.
double value_of(unsigned pattern, int exponents, int fractions) {
  const unsigned fraction = pattern & ((1U << fractions) - 1);
  const unsigned exponent = pattern >> fractions & ((1U << exponents) - 1);
  const int bias = (1 << (exponents - 1)) - 1;
  const double sign = (pattern >> 15U) != 0 ? -1 : 1;
  if (exponent == (1U << exponents) - 1) {
    return fraction != 0 ? std::nan("") : sign * static_cast<double>(kInf);
  }
  const double whole = exponent == 0 ? 0 : 1;
  const int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias;
  return sign * std::ldexp(whole + std::ldexp(fraction, -fractions), power);
}

void check_all(HalfFormat format, int exponents, int fractions) {
  int wrong = 0, numbers_seen = 0, nans = 0;
  for (unsigned pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const double want = value_of(pattern, exponents, fractions);
    const float got = widen(static_cast<std::uint16_t>(pattern), format);
    if (std::isnan(want)) {
      // sign and payload stay
      const unsigned fraction = pattern & ((1U << fractions) - 1);
      const unsigned kept = bits_of(got) & 0x7FFFFFU;
      const bool right = std::isnan(got) && kept == fraction << (23 - fractions) &&
                         (bits_of(got) >> 31U) == pattern >> 15U;
      wrong += right ? 0 : 1;
      ++nans;
    } else {
      const bool right =
          static_cast<double>(got) == want && std::signbit(got) == std::signbit(want);
      wrong += right ? 0 : 1;
      ++numbers_seen;
    }
  }
  CHECK(wrong == 0);
  CHECK(nans == 2 * ((1 << fractions) - 1));
  CHECK(numbers_seen + nans == 65536);
}

}  // namespace

TEST_CASE("float16: every one of the 65536 patterns") { check_all(HalfFormat::float16, 5, 10); }

TEST_CASE("bfloat16: every one of the 65536 patterns") { check_all(HalfFormat::bfloat16, 8, 7); }

TEST_CASE("float16 by hand") {
  const auto value = [](std::uint16_t half) {
    return static_cast<double>(widen(half, HalfFormat::float16));
  };
  CHECK(value(0x3C00) == 1);
  CHECK(value(0xC000) == -2);
  CHECK(value(0x7BFF) == 65504);
  CHECK(value(0x0400) == std::ldexp(1, -14));  // the smallest normal number
  CHECK(value(0x03FF) == std::ldexp(1023, -24));
  CHECK(value(0x0001) == std::ldexp(1, -24));
  CHECK(value(0x3555) == 0.333251953125);
  CHECK(bits_of(widen(0x8000, HalfFormat::float16)) == 0x80000000U);
}

TEST_CASE("bytes in the wrong order, or one too many") {
  CHECK(widen(std::vector<std::uint8_t>{0x00, 0x3C, 0x00, 0xC0}, HalfFormat::float16) ==
        std::vector<float>{1, -2});
  CHECK(widen(std::vector<std::uint8_t>{0x80, 0x3F}, HalfFormat::bfloat16) ==
        std::vector<float>{1});
  CHECK(widen(std::vector<std::uint8_t>{0x80, 0x3F, 0x01}, HalfFormat::bfloat16).size() == 1);
  CHECK(widen(std::vector<std::uint8_t>{}, HalfFormat::float16).empty());
}
