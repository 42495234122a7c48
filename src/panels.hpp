#pragma once

#include <cstddef>
#include <vector>

namespace softlookup {

/// Rows of a panel, and rows of queries that the kernel carries side by side.
constexpr std::size_t kPanel = 8;

/// To whole panels.
constexpr std::size_t round_up(std::size_t rows) { return (rows + kPanel - 1) / kPanel * kPanel; }

/// to[i * step] = from[i] * factor for i < count
void spread(const float* from, std::size_t count, float factor, float* to, std::size_t step);

/// A matrix [rows, depth] as the kernel reads it, in memory that somebody else keeps: panels of
/// eight rows, in each panel column after column, so that the eight numbers that are wanted at once
/// lie side by side.
template <class Number>
class PanelsView {
 public:
  PanelsView(Number* data, std::size_t rows, std::size_t depth)
      : data_(data), rows_(rows), depth_(depth) {}

  operator PanelsView<const Number>() const { return {data_, rows_, depth_}; }

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }

  /// Floats of it, those that fill up the last panel included.
  [[nodiscard]] std::size_t size() const { return round_up(rows_) * depth_; }

  Number& operator()(std::size_t row, std::size_t column) const {
    return *(at(row / kPanel * kPanel, column) + row % kPanel);
  }

  /// The panel that begins with row `row`, a multiple of eight, from `column` on.
  [[nodiscard]] Number* at(std::size_t row, std::size_t column) const {
    return data_ + (row / kPanel * depth_ + column) * kPanel;
  }

  /// From a panel to the next.
  [[nodiscard]] std::size_t stride() const { return depth_ * kPanel; }

 private:
  Number* data_;
  std::size_t rows_, depth_;
};

/// 0 to what is not of the matrix: the rest of the last panel. Rows of it are cleared as well.
void clear_rest(const PanelsView<float>& panels);
void set_row(const PanelsView<float>& panels, std::size_t row, const float* elements);
/// All rows, from a matrix [rows, depth] whose rows are `stride` apart.
void set_rows(const PanelsView<float>& panels, const float* matrix, std::size_t stride);
void set_column(const PanelsView<float>& panels, std::size_t column, const float* elements);

/// Panels that keep their memory. What fills up the last one is 0.
class Panels {
 public:
  Panels() = default;
  Panels(std::size_t rows, std::size_t depth)
      : rows_(rows), depth_(depth), data_(round_up(rows) * depth) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t depth() const { return depth_; }

  [[nodiscard]] PanelsView<float> view() { return {data_.data(), rows_, depth_}; }
  [[nodiscard]] PanelsView<const float> view() const { return {data_.data(), rows_, depth_}; }

  float& operator()(std::size_t row, std::size_t column) { return view()(row, column); }
  float operator()(std::size_t row, std::size_t column) const { return view()(row, column); }

 private:
  std::size_t rows_ = 0, depth_ = 0;
  std::vector<float> data_;
};

}  // namespace softlookup
