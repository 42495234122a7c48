#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace softlookup {

/// Independent standard normal numbers; the same sequence for the same seed with every compiler,
/// which std::normal_distribution does not promise.
class NormalNumbers {
 public:
  explicit NormalNumbers(std::uint32_t seed) : engine_(seed) {}

  double next();

  /// A whole number in [0, bound).
  std::size_t below(std::size_t bound) { return engine_() % bound; }

 private:
  std::mt19937 engine_;
};

}  // namespace softlookup
