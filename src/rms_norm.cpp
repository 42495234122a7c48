#include "rms_norm.hpp"

#include <cmath>
#include <string>

#include "error.hpp"
#include "float_range.hpp"

namespace softlookup {

namespace {

/// Row after row of data [..., D], in place.
void norm_rows(const Shape& shape, float* data, const Tensor1& weight, double eps,
               bool unit_offset) {
  if (shape.empty() || shape.back() == 0) {
    fail(shape.empty() ? ErrorCode::RANK : ErrorCode::SHAPE,
         "x %: the last axis must not be 0, or be missing", {shape});
  }
  const std::size_t width = shape.back();
  if (weight.size() != 0 && weight.size() != width) {
    fail(ErrorCode::SHAPE, "weight [%] does not fit the last axis of x %", {weight.size(), shape});
  }
  if (!(std::isfinite(eps) && eps >= 0)) {
    fail(ErrorCode::OPTION, "eps must be a finite number, 0 or more");
  }
  if (unit_offset && weight.size() == 0) {
    fail(ErrorCode::OPTION, "unitOffset wants a weight");
  }

  std::size_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    rows *= shape[axis];
  }
  const double offset = unit_offset ? 1 : 0;
  for (float* row = data; row != data + rows * width; row += width) {
    double squares = 0;
    for (std::size_t e = 0; e < width; ++e) {
      squares += static_cast<double>(row[e]) * static_cast<double>(row[e]);
    }
    const double mean = squares / static_cast<double>(width);
    const double size = mean + eps == 0 ? 1 : std::sqrt(mean + eps);
    for (std::size_t e = 0; e < width; ++e) {
      const double factor = weight.size() == 0 ? 1 : offset + static_cast<double>(weight(e));
      row[e] = to_float(static_cast<double>(row[e]) / size * factor);
    }
  }
}

}  // namespace

NdArray rms_norm(const NdArray& x, const Tensor1& weight, double eps, bool unit_offset) {
  NdArray y = x;
  norm_rows(shape_of(x), y.data(), weight, eps, unit_offset);
  return y;
}

Tensor4 rms_norm(const Tensor4& x, const Tensor1& weight, double eps, bool unit_offset) {
  Tensor4 y = x;
  norm_rows(shape_of(x), y.data(), weight, eps, unit_offset);
  return y;
}

}  // namespace softlookup
