#include "statistics.hpp"

#include <cmath>
#include <vector>
#include <xtensor/xmath.hpp>

#include "error.hpp"

namespace softlookup {

Moments moments(const NdArray& x) {
  if (x.size() == 0) {
    throw Error(ErrorCode::SHAPE, "x " + shape_text(x.shape()) + " has no element");
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
    throw Error(ErrorCode::OPTION, "headDim and samples must be at least 1");
  }
  const double kurtosis = 3 + 6 / head_dim;
  return {head_dim, std::sqrt(head_dim), 1, kurtosis, std::sqrt((kurtosis - 1) / samples)};
}

NdArray row_sums(const NdArray& x) {
  if (x.dimension() == 0) {
    throw Error(ErrorCode::RANK, "x " + shape_text(x.shape()) + " has no axis to sum over");
  }
  return xt::sum<double>(x, {x.dimension() - 1});
}

}  // namespace softlookup
