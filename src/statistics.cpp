#include "statistics.hpp"

#include <cmath>
#include <numeric>

#include "error.hpp"

namespace softlookup {

Moments moments(const NdArray& x) {
  if (x.size() == 0) {
    fail(ErrorCode::SHAPE, "x % has no element", {x.shape()});
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
    fail(ErrorCode::OPTION, "headDim and samples must be at least 1");
  }
  const double kurtosis = 3 + 6 / head_dim;
  return {head_dim, std::sqrt(head_dim), 1, kurtosis, std::sqrt((kurtosis - 1) / samples)};
}

namespace {

/// The sum of a function of each number over the last axis.
template <class Term>
NdArray over_rows(const NdArray& x, Term term) {
  if (x.dimension() == 0) {
    fail(ErrorCode::RANK, "x % has no axis to sum over", {x.shape()});
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
  return over_rows(
      p, [](double value) { return value == 0 ? 0 : -value * std::log(value) / std::log(2.0); });
}

double growth_exponent(const NdArray& sizes, const NdArray& values) {
  const auto log_of = [](const NdArray& x, std::size_t i) {
    const auto value = static_cast<double>(x.data()[i]);
    if (!(value > 0)) {
      fail(ErrorCode::OPTION, "sizes and values must be above 0");
    }
    return std::log(value);
  };
  const std::size_t count = sizes.size();
  double squares = 0;
  double products = 0;
  // over all pairs, which needs no means
  for (std::size_t i = 0; i < count && count == values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double dx = log_of(sizes, i) - log_of(sizes, j);
      squares += dx * dx;
      products += dx * (log_of(values, i) - log_of(values, j));
    }
  }
  if (squares == 0) {
    fail(ErrorCode::SHAPE, "sizes %, values %: expected as many, and two different sizes at least",
         {sizes.shape(), values.shape()});
  }
  return products / squares;
}

}  // namespace softlookup
