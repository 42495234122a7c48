#include "panels.hpp"

#include <algorithm>

namespace softlookup {

std::vector<float> zeros(std::size_t count) { return std::vector<float>(count); }

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

void Panels::set_row(std::size_t row, const float* elements) {
  float* place = data_.data() + index(row, 0);
  for (std::size_t column = 0; column < depth_; ++column) {
    place[column * kPanel] = elements[column];
  }
}

void Panels::set_column(std::size_t column, const float* elements) {
  for (std::size_t row = 0; row < rows_; row += kPanel) {
    std::copy_n(elements + row, std::min(kPanel, rows_ - row), data_.data() + index(row, column));
  }
}

}  // namespace softlookup
