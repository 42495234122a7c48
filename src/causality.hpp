#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor.hpp"

namespace softlookup {

/// What takes the place of replaced tokens.
enum class Replacement {
  random,    // independent normal numbers * magnitude
  large,     // the token + magnitude (which may be negative)
  permuted,  // the replaced tokens among themselves, in another order
  nan
};

/// A copy of x whose tokens first ... end-1 along `axis` are replaced.
NdArray replace_tokens(const NdArray& x, std::size_t axis, std::size_t first, std::size_t end,
                       Replacement kind, float magnitude, std::uint32_t seed);

/// For each position along `axis`: did it move, and how far at most. With tolerance 0 every changed
/// bit is a move; the distance is Infinity where only one of two values is finite, and 0 from NaN
/// to NaN.
struct Moves {
  std::vector<std::uint8_t> moved;
  std::vector<double> distance;
};
Moves compare_positions(const NdArray& before, const NdArray& after, std::size_t axis,
                        double tolerance);

}  // namespace softlookup
