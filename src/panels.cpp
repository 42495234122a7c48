#include "panels.hpp"

#include <algorithm>

namespace softlookup {

void spread(const float* from, std::size_t count, float factor, float* to, std::size_t step) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i * step] = from[i] * factor;
  }
}

bool gather(const float* from, std::size_t step, std::size_t count, float divisor, float* to) {
  float poison = 0.0F;  // NaN as soon as one number is not finite
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = from[i * step] / divisor + 0.0F;
    poison += to[i] - to[i];
  }
  return poison == 0.0F;
}

bool turn_lanes(const float* from, std::size_t count, float* to, std::size_t stride) {
  float poison = 0.0F;
  for (std::size_t c = 0; c < count; ++c) {
    for (std::size_t r = 0; r < kPanel; ++r) {
      const float number = from[c * kPanel + r] + 0.0F;
      to[r * stride + c] = number;
      poison += number - number;
    }
  }
  return poison == 0.0F;
}

void set_row(const PanelsView<float>& panels, std::size_t row, const float* elements) {
  spread(elements, panels.depth(), 1.0F, &panels(row, 0), kPanel);
}

void set_column(const PanelsView<float>& panels, std::size_t column, const float* elements) {
  for (std::size_t row = 0; row < panels.rows(); row += kPanel) {
    std::copy_n(elements + row, std::min(kPanel, panels.rows() - row), panels.at(row, column));
  }
}

}  // namespace softlookup
