#pragma once

#include <cstddef>
#include <vector>

namespace softlookup {

/// Rows of a panel, and rows of queries that the kernel carries side by side.
constexpr std::size_t kPanel = 8;

/// To whole panels.
constexpr std::size_t round_up(std::size_t rows) { return (rows + kPanel - 1) / kPanel * kPanel; }

std::vector<float> zeros(std::size_t count);

/// to[i * step] = from[i] * factor for i < count
void spread(const float* from, std::size_t count, float factor, float* to, std::size_t step);

/// to[i] = from[i * step] / divisor for i < count, 0 never negative. Whether all of it is finite.
bool gather(const float* from, std::size_t step, std::size_t count, float divisor, float* to);

/// A matrix [rows, depth] as the kernel reads it: panels of eight rows, in each panel column after
/// column, so that the eight numbers that are wanted at once lie side by side. What fills up the
/// last panel is 0.
class Panels {
 public:
  Panels() = default;
  Panels(std::size_t rows, std::size_t depth)
      : rows_(rows), depth_(depth), data_(zeros(round_up(rows) * depth)) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }

  float& operator()(std::size_t row, std::size_t column) { return data_[index(row, column)]; }
  float operator()(std::size_t row, std::size_t column) const { return data_[index(row, column)]; }

  /// The panel that begins with row `row`, a multiple of eight, from `column` on.
  [[nodiscard]] const float* at(std::size_t row, std::size_t column) const {
    return data_.data() + index(row, column);
  }

  /// From a panel to the next.
  [[nodiscard]] std::size_t stride() const { return depth_ * kPanel; }

  void set_row(std::size_t row, const float* elements);
  void set_column(std::size_t column, const float* elements);

 private:
  [[nodiscard]] std::size_t index(std::size_t row, std::size_t column) const {
    return (row / kPanel * depth_ + column) * kPanel + row % kPanel;
  }

  std::size_t rows_ = 0, depth_ = 0;
  std::vector<float> data_;
};

}  // namespace softlookup
