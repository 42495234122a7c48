#include "random.hpp"

#include <cmath>

namespace softlookup {

namespace {

/// In (0, 1): never 0, whose logarithm is -Infinity.
double uniform(std::mt19937& engine) {
  return (static_cast<double>(engine()) + 0.5) / 4294967296.0;
}

}  // namespace

// Box and Muller 1958
double NormalNumbers::next() {
  constexpr double kTwoPi = 6.283185307179586;
  const double radius = std::sqrt(-2.0 * std::log(uniform(engine_)));
  return radius * std::cos(kTwoPi * uniform(engine_));
}

}  // namespace softlookup
