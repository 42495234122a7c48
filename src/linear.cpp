#include "linear.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "float_range.hpp"
#include "kernel.hpp"

namespace softlookup {

namespace {

/// One number of the projection, in double.
float exact(const float* x, const Tensor1& bias, const Panels& weight, std::size_t row) {
  double sum = bias.size() == 0 ? 0.0 : static_cast<double>(bias(row));
  for (std::size_t column = 0; column < weight.depth(); ++column) {
    sum += static_cast<double>(x[column]) * static_cast<double>(weight(row, column));
  }
  return to_float(sum);
}

std::array<std::size_t, 3> projected_shape(const Tensor3& x, std::size_t out) {
  const std::array<std::size_t, 3> shape{x.shape(0), x.shape(1), out};
  require_addressable(shape, "projection");
  return shape;
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
  projected_shape(x, weight.shape(0));  // before there is anything to pack
  return plain_linear(x, {pack(weight), bias});
}

Tensor3 plain_linear(const Tensor3& x, const Projection& projection) {
  const std::size_t out = projection.weight.rows();
  Tensor3 y = xt::empty<float>(projected_shape(x, out));  // [B, L, out]
  for (std::size_t n = 0; n < y.size(); ++n) {
    y.data()[n] =
        exact(x.data() + n / out * x.shape(2), projection.bias, projection.weight, n % out);
  }
  return y;
}

Tensor3 fast_linear(const Tensor3& x, const Projection& projection) {
  const Panels& weight = projection.weight;
  const std::size_t rows = x.shape(0) * x.shape(1);
  const std::size_t in = weight.depth();
  const std::size_t out = weight.rows();
  const kernel::PanelsOf panels{weight.at(0, 0), weight.stride(), round_up(out)};
  Tensor3 y = xt::empty<float>(projected_shape(x, out));
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
  for (std::size_t n = 0; n < y.size(); ++n) {
    float& number = y.data()[n];
    if (!std::isfinite(number)) {  // float32 could not hold it, or what it is on the way
      number = exact(x.data() + n / out * in, projection.bias, weight, n % out);
    }
  }
  return y;
}

}  // namespace softlookup
