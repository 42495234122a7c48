#include "softmax.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "error.hpp"

namespace softlookup {

namespace {

/// The sink of the head that row r of [B, H, L] belongs to, -Infinity (no part) without sinks.
float sink_of_row(const std::vector<float>& sinks, const Tensor3& rows, std::size_t r) {
  return sinks.empty() ? kHidden : sinks[r / rows.shape(2) % rows.shape(1)];
}

/// exp(logit - max) in double; -Infinity minus itself would be NaN, so a row without a key is not
/// shifted.
double shifted_exp(float logit, float max) {
  return std::exp(static_cast<double>(logit) - (max == kHidden ? 0.0 : static_cast<double>(max)));
}

}  // namespace

void require_valid_sinks(const std::vector<float>& sinks, std::size_t heads) {
  if (!sinks.empty() && sinks.size() != heads) {
    fail(ErrorCode::SHAPE, "sinks [%], expected H = %", {sinks.size(), heads});
  }
  for (const float sink : sinks) {
    if (!std::isfinite(sink)) {
      fail(ErrorCode::OPTION, "sinks must be finite numbers");
    }
  }
}

Tensor3 row_max(const Tensor4& scores) {
  const auto& shape = scores.shape();
  Tensor3 maxima = xt::empty<float>({shape[0], shape[1], shape[2]});
  for (std::size_t r = 0; r < maxima.size(); ++r) {
    const float* row = scores.data() + r * shape[3];
    float largest = kHidden;
    for (std::size_t j = 0; j < shape[3]; ++j) {
      largest = std::max(largest, row[j]);  // in this order a NaN is passed over
    }
    maxima.data()[r] = largest;
  }
  return maxima;
}

void softmax(Tensor4& scores, Trace* trace, const std::vector<float>& sinks) {
  require_valid_sinks(sinks, scores.shape(1));
  const std::size_t keys = scores.shape(3);
  const auto note = [trace](const char* id, const char* formula, const auto& tensor) {
    if (trace != nullptr) {
      trace->record(id, formula, tensor);
    }
  };

  // 1. m = max over keys
  Tensor3 max = row_max(scores);  // [B, H, L]
  for (std::size_t r = 0; r < max.size(); ++r) {
    max.data()[r] = std::max(max.data()[r], sink_of_row(sinks, max, r));
  }
  note("rowMax", "max over keys", max);

  // 2. exp(s - m)
  for (std::size_t r = 0; r < max.size(); ++r) {
    float* row = scores.data() + r * keys;
    for (std::size_t j = 0; j < keys; ++j) {
      row[j] = static_cast<float>(shifted_exp(row[j], max.data()[r]));
    }
  }
  note("exp", "exp(score − rowMax)", scores);

  // 3. sum over keys
  Tensor3 sum = xt::empty<float>(max.shape());  // [B, H, L]
  for (std::size_t r = 0; r < max.size(); ++r) {
    const float* row = scores.data() + r * keys;
    const double of_keys = std::accumulate(row, row + keys, 0.0);
    sum.data()[r] =
        static_cast<float>(of_keys + shifted_exp(sink_of_row(sinks, max, r), max.data()[r]));
  }
  note("rowSum", "sum of exp over keys", sum);

  // 4. divide; a sum of 0 is a row without a key
  for (std::size_t r = 0; r < max.size(); ++r) {
    const float total = sum.data()[r];
    float* row = scores.data() + r * keys;
    for (std::size_t j = 0; j < keys; ++j) {
      row[j] /= total == 0.0F ? 1.0F : total;
    }
  }
}

void masked_softmax(Tensor4& scores, const MaskRule& rule, Trace* trace,
                    const std::vector<float>& sinks) {
  apply_mask(scores, rule);
  if (trace != nullptr) {
    trace->record("masked", "score + mask, −∞ where hidden", scores);
  }
  softmax(scores, trace, sinks);
  if (trace != nullptr) {
    trace->record("weights", "exp / rowSum", scores);
  }
}

}  // namespace softlookup
