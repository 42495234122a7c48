#include "softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>

namespace softlookup {

Tensor3 row_max(const Tensor4& scores) {
  const auto& shape = scores.shape();
  Tensor3 maxima = xt::empty<float>({shape[0], shape[1], shape[2]});
  for (std::size_t row = 0; row < maxima.size(); ++row) {
    const float* first = scores.data() + row * shape[3];
    float largest = -std::numeric_limits<float>::infinity();
    for (std::size_t j = 0; j < shape[3]; ++j) {
      largest = std::max(largest, first[j]);  // in this order a NaN is passed over
    }
    maxima.data()[row] = largest;
  }
  return maxima;
}

void softmax(Tensor4& scores, Trace* trace) {
  // 1. m = max over keys
  const Tensor3 max = row_max(scores);  // [B, H, L]
  if (trace != nullptr) {
    trace->record("rowMax", "max over keys", max);
  }

  // 2. exp(s - m); a row without a key has m = -Infinity, and -Infinity minus itself is NaN
  const Tensor3 shift =
      xt::where(xt::equal(max, -std::numeric_limits<float>::infinity()), 0.0F, max);
  scores = xt::exp(xt::cast<double>(scores) -
                   xt::view(shift, xt::all(), xt::all(), xt::all(), xt::newaxis()));
  if (trace != nullptr) {
    trace->record("exp", "exp(score − rowMax)", scores);
  }

  // 3. sum over keys
  const Tensor3 sum = xt::sum<double>(scores, {3});  // [B, H, L]
  if (trace != nullptr) {
    trace->record("rowSum", "sum of exp over keys", sum);
  }

  // 4. divide; a sum of 0 is a row without a key
  const Tensor3 divisor = xt::where(xt::equal(sum, 0.0F), 1.0F, sum);
  scores /= xt::view(divisor, xt::all(), xt::all(), xt::all(), xt::newaxis());
}

void masked_softmax(Tensor4& scores, const MaskRule& rule, Trace* trace) {
  apply_mask(scores, rule);
  if (trace != nullptr) {
    trace->record("masked", "score + mask, −∞ where hidden", scores);
  }
  softmax(scores, trace);
  if (trace != nullptr) {
    trace->record("weights", "exp / rowSum", scores);
  }
}

}  // namespace softlookup
