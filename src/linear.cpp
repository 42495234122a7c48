#include "linear.hpp"

#include <array>

#include "float_range.hpp"

namespace softlookup {

Tensor3 linear(const Tensor3& x, const Tensor2& weight, const Tensor1& bias) {
  const std::array<std::size_t, 3> shape{x.shape(0), x.shape(1), weight.shape(0)};
  require_addressable(shape, "projection");
  Tensor3 y = xt::empty<float>(shape);  // [B, L, out]
  for (std::size_t b = 0; b < x.shape(0); ++b) {
    for (std::size_t i = 0; i < x.shape(1); ++i) {
      for (std::size_t row = 0; row < weight.shape(0); ++row) {
        double sum = bias.size() == 0 ? 0.0 : static_cast<double>(bias(row));
        for (std::size_t column = 0; column < weight.shape(1); ++column) {
          sum += static_cast<double>(x(b, i, column)) * static_cast<double>(weight(row, column));
        }
        y(b, i, row) = to_float(sum);
      }
    }
  }
  return y;
}

}  // namespace softlookup
