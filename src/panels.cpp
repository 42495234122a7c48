#include "panels.hpp"

#include <algorithm>

#include "kernel.hpp"

namespace softlookup {

void spread(const float* from, std::size_t count, float factor, float* to, std::size_t step) {
  for (std::size_t i = 0; i < count; ++i) {
    to[i * step] = from[i] * factor;
  }
}

void clear_rest(const PanelsView<float>& panels) {
  if (panels.rows() % kPanel != 0) {
    std::fill_n(panels.at(panels.rows(), 0), panels.stride(), 0.0F);
  }
}

void set_row(const PanelsView<float>& panels, std::size_t row, const float* elements) {
  spread(elements, panels.depth(), 1.0F, &panels(row, 0), kPanel);
}

void set_rows(const PanelsView<float>& panels, const float* matrix, std::size_t stride) {
  std::size_t row = 0;
  for (; row + kPanel <= panels.rows(); row += kPanel) {
    kernel::rows_to_lanes(matrix + row * stride, stride, panels.depth(), 1.0F, panels.at(row, 0));
  }
  for (; row < panels.rows(); ++row) {
    set_row(panels, row, matrix + row * stride);
  }
}

void set_column(const PanelsView<float>& panels, std::size_t column, const float* elements) {
  std::size_t row = 0;
  for (; row + kPanel <= panels.rows(); row += kPanel) {
    std::copy_n(elements + row, kPanel, panels.at(row, column));
  }
  if (row < panels.rows()) {
    std::copy_n(elements + row, panels.rows() - row, panels.at(row, column));
  }
}

}  // namespace softlookup
