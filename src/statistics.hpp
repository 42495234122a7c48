#pragma once

#include "tensor.hpp"

namespace softlookup {

struct Moments {
  double mean;
  double variance;           // divided by n
  double variance_unbiased;  // divided by n - 1
};

/// Of all elements. Throws SHAPE for an empty array.
Moments moments(const NdArray& x);

/// Theory of q . k for q and k of independent standard normal entries (the course, 2.3): the
/// variance is the head dim d, the fourth moment 3 d^2 + 6 d.
struct DotProductMoments {
  double variance;
  double standard_deviation;
  double variance_scaled;  // after the division by sqrt(d)
  double kurtosis;
  double relative_standard_error;  // of a variance estimated from `samples` pairs
};
DotProductMoments dot_product_moments(double head_dim, double samples);

/// Sum over the last axis; a vector gives one number.
NdArray row_sums(const NdArray& x);

/// Shannon entropy of the last axis in bits, -sum p log2 p with 0 log2 0 = 0.
NdArray row_entropies(const NdArray& p);

/// The p of values growing as sizes^p: the slope of ln values over ln sizes by least squares.
/// Throws SHAPE for lengths that differ or fewer than two different sizes, OPTION for a number not
/// above 0.
double growth_exponent(const NdArray& sizes, const NdArray& values);

}  // namespace softlookup
