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

namespace {

/// The sum of a function of each number over the last axis.
template <class Term>
NdArray over_rows(const NdArray& x, Term term) {
  if (x.dimension() == 0) {
    throw Error(ErrorCode::RANK, {"x ", shape_text(x.shape()), " has no axis to sum over"});
  }
  Shape shape = shape_of(x);
  const std::size_t width = shape.back();
  shape.pop_back();
  NdArray sums = NdArray::from_shape(shape);
  for (std::size_t row = 0; row < sums.size(); ++row) {
    const float* first = x.data() + row * width;
    sums.data()[row] = static_cast<float>(std::accumulate(
        first, first + width, 0.0, [&](double sum, float value) { return sum + term(value); }));
  }
  return sums;
}

}  // namespace

NdArray row_sums(const NdArray& x) {
  return over_rows(x, [](double value) { return value; });
}

NdArray row_entropies(const NdArray& p) {
  return over_rows(p, [](double value) { return value == 0 ? 0 : -value * std::log(value) / std::log(2.0); });
}

}  // namespace softlookup
