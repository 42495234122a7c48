// A NaN beside a NaN of another sign or payload counted as a move, whatever the tolerance.

#include <cstring>

#include "catch.hpp"
#include "causality.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

float of_bits(std::uint32_t bits) {
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

}  // namespace

TEST_CASE("regression: two NaNs of other bits are taken for a move within a tolerance") {
  const NdArray before = nd_array({4}, {kNaN, of_bits(0x7FC00000), of_bits(0x7FC00001), kNaN});
  const NdArray after = nd_array({4}, {kNaN, of_bits(0xFFC00000), of_bits(0x7FC12345), 1});
  for (const double tolerance : {1e-6, 1e30}) {
    const Moves moves = compare_positions(before, after, 0, tolerance);
    CHECK(moves.moved == std::vector<std::uint8_t>{0, 0, 0, 1});
    CHECK(moves.distance == std::vector<double>{0, 0, 0, std::numeric_limits<double>::infinity()});
  }
  const Moves bitwise = compare_positions(before, after, 0, 0);
  CHECK(bitwise.moved == std::vector<std::uint8_t>{0, 1, 1, 1});
  CHECK(bitwise.distance == std::vector<double>{0, 0, 0, std::numeric_limits<double>::infinity()});
}
