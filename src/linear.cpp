#include "linear.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "kernel.hpp"

namespace softlookup {

namespace {

Tensor3 projected(const Tensor3& x, std::size_t out) {
  const std::array<std::size_t, 3> shape{x.shape(0), x.shape(1), out};
  require_addressable(shape, "projection");
  return xt::empty<float>(shape);
}

}  // namespace

Panels pack(const Tensor2& matrix) {
  Panels packed(matrix.shape(0), matrix.shape(1));
  for (std::size_t row = 0; row < matrix.shape(0); ++row) {
    packed.set_row(row, matrix.data() + row * matrix.shape(1));
  }
  return packed;
}

Tensor2 unpack_rows(const Panels& packed, std::size_t first, std::size_t count) {
  Tensor2 rows = Tensor2::from_shape({count, packed.depth()});
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t column = 0; column < packed.depth(); ++column) {
      rows(row, column) = packed(first + row, column);
    }
  }
  return rows;
}

Tensor3 linear(const Tensor3& x, const Tensor2& weight, const Tensor1& bias) {
  Tensor3 y = projected(x, weight.shape(0));  // [B, L, out]
  for (std::size_t b = 0; b < x.shape(0); ++b) {
    for (std::size_t i = 0; i < x.shape(1); ++i) {
      for (std::size_t row = 0; row < weight.shape(0); ++row) {
        double sum = bias.size() == 0 ? 0.0 : static_cast<double>(bias(row));
        for (std::size_t column = 0; column < weight.shape(1); ++column) {
          sum += static_cast<double>(x(b, i, column)) * static_cast<double>(weight(row, column));
        }
        y(b, i, row) = static_cast<float>(sum);
      }
    }
  }
  return y;
}

Tensor3 plain_linear(const Tensor3& x, const Projection& projection) {
  return linear(x, unpack_rows(projection.weight, 0, projection.weight.rows()), projection.bias);
}

Tensor3 fast_linear(const Tensor3& x, const Projection& projection) {
  const Panels& weight = projection.weight;
  const std::size_t rows = x.shape(0) * x.shape(1);
  const std::size_t in = weight.depth();
  const std::size_t out = weight.rows();
  const kernel::PanelsOf panels{weight.at(0, 0), weight.stride(), round_up(out)};
  Tensor3 y = projected(x, out);
  std::vector<float> bias(panels.rows);
  std::copy(projection.bias.begin(), projection.bias.end(), bias.begin());

  std::size_t row = 0;
  std::vector<float> lanes(in * kPanel);
  std::vector<float> tile(panels.rows * kPanel);  // [out, 8], or [rows < 8, out]
  for (; row + kPanel <= rows; row += kPanel) {
    for (std::size_t r = 0; r < kPanel; ++r) {
      for (std::size_t column = 0; column < in; ++column) {
        lanes[column * kPanel + r] = x.data()[(row + r) * in + column];
      }
    }
    for (std::size_t column = 0; column < panels.rows; ++column) {
      std::fill_n(&tile[column * kPanel], kPanel, bias[column]);
    }
    kernel::multiply_lanes(panels, in, lanes.data(), tile.data(), true);
    for (std::size_t r = 0; r < kPanel; ++r) {
      for (std::size_t column = 0; column < out; ++column) {
        y.data()[(row + r) * out + column] = tile[column * kPanel + r];
      }
    }
  }
  for (std::size_t r = 0; r < rows - row; ++r) {
    std::copy(bias.begin(), bias.end(), &tile[r * panels.rows]);
  }
  kernel::multiply_rows(panels, in, x.data() + row * in, in, rows - row, tile.data(), panels.rows,
                        true);
  for (std::size_t r = 0; r < rows - row; ++r) {
    std::copy_n(&tile[r * panels.rows], out, y.data() + (row + r) * out);
  }
  return y;
}

}  // namespace softlookup
