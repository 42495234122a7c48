#include "statistics.hpp"

#include <cmath>
#include <numeric>

#include "error.hpp"

namespace softlookup {

Moments moments(const NdArray& x) {
  if (x.size() == 0) {
    throw Error(ErrorCode::SHAPE, {"x ", shape_text(x.shape()), " has no element"});
  }
  const auto n = static_cast<double>(x.size());
  double mean = 0;
  for (const float value : x) {
    mean += static_cast<double>(value) / n;
  }
  double squares = 0;
  for (const float value : x) {
    squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  }
  return {mean, squares / n, squares / (n - 1)};
}

DotProductMoments dot_product_moments(double head_dim, double samples) {
  if (!(head_dim >= 1) || !(samples >= 1)) {
    throw Error(ErrorCode::OPTION, {"headDim and samples must be at least 1"});
  }
  const double kurtosis = 3 + 6 / head_dim;
  return {head_dim, std::sqrt(head_dim), 1, kurtosis, std::sqrt((kurtosis - 1) / samples)};
}

NdArray row_sums(const NdArray& x) {
  if (x.dimension() == 0) {
    throw Error(ErrorCode::RANK, {"x ", shape_text(x.shape()), " has no axis to sum over"});
  }
  Shape shape = shape_of(x);
  const std::size_t width = shape.back();
  shape.pop_back();
  NdArray sums = NdArray::from_shape(shape);
  for (std::size_t row = 0; row < sums.size(); ++row) {
    const float* first = x.data() + row * width;
    sums.data()[row] = static_cast<float>(std::accumulate(first, first + width, 0.0));
  }
  return sums;
}

}  // namespace softlookup
