#include "linear.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "float_range.hpp"
#include "kernel.hpp"

namespace softlookup {

namespace {

constexpr std::size_t kRowTiles = 8;  // tiles of rows that share a block of the weight
constexpr std::size_t kBlock = 32;    // rows of the weight that are near at once

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
  set_rows(packed.view(), matrix.data(), matrix.shape(1));
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
  const PanelsView<const float> weight = projection.weight.view();
  const std::size_t rows = x.shape(0) * x.shape(1);
  const std::size_t in = weight.depth();
  const std::size_t out = weight.rows();
  Tensor3 y = xt::empty<float>(projected_shape(x, out));
  std::vector<float> bias(round_up(out));
  std::copy(projection.bias.begin(), projection.bias.end(), bias.begin());
  bool finite = true;

  // Whole tiles of eight rows side by side, kRowTiles of them for each block of the weight that is
  // near.
  const std::size_t tiles = rows / kPanel;
  std::vector<float> bias_lanes(tiles == 0 ? 0 : bias.size() * kPanel);  // [out rows, 8]
  for (std::size_t n = 0; n < bias_lanes.size(); ++n) {
    bias_lanes[n] = bias[n / kPanel];
  }
  std::vector<float> lanes(std::min(tiles, kRowTiles) * in * kPanel);
  std::vector<float> block(std::min(kBlock, round_up(out)) * kPanel);  // [out rows, 8]
  for (std::size_t first = 0; first < tiles; first += kRowTiles) {
    const std::size_t count = std::min(kRowTiles, tiles - first);
    for (std::size_t t = 0; t < count; ++t) {
      kernel::rows_to_lanes(x.data() + (first + t) * kPanel * in, in, in, 1.0F,
                            &lanes[t * in * kPanel]);
    }
    for (std::size_t column = 0; column < out; column += kBlock) {
      const std::size_t width = std::min(kBlock, out - column);
      const kernel::PanelsOf panels{weight.at(column, 0), weight.stride(), round_up(width)};
      for (std::size_t t = 0; t < count; ++t) {
        std::copy_n(&bias_lanes[column * kPanel], panels.rows * kPanel, block.data());
        kernel::multiply_lanes(panels, in, &lanes[t * in * kPanel], block.data(),
                               kernel::kUnshrunk);
        float* const to = y.data() + (first + t) * kPanel * out + column;
        finite = kernel::lanes_to_rows(block.data(), width, to, out) && finite;
      }
    }
  }

  // The rest, one after the other.
  const std::size_t left = rows % kPanel;
  std::vector<float> last(left * bias.size());
  for (std::size_t r = 0; r < left; ++r) {
    std::copy(bias.begin(), bias.end(), &last[r * bias.size()]);
  }
  kernel::multiply_rows({weight.at(0, 0), weight.stride(), bias.size()}, in,
                        x.data() + tiles * kPanel * in, in, left, last.data(), bias.size(), true);
  for (std::size_t r = 0; r < left; ++r) {
    float* const to = y.data() + (tiles * kPanel + r) * out;
    finite = kernel::divide_row(&last[r * bias.size()], out, 1.0F, to) && finite;
  }

  for (std::size_t n = 0; n < y.size() && !finite; ++n) {
    float& number = y.data()[n];
    if (!std::isfinite(number)) {  // float32 could not hold it, or what it is on the way
      number = exact(x.data() + n / out * in, projection.bias, projection.weight, n % out);
    }
  }
  return y;
}

}  // namespace softlookup
