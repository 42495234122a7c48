#include "linear_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "attention.hpp"
#include "attention_checks.hpp"
#include "error.hpp"
#include "float_range.hpp"

namespace softlookup {

namespace {

/// elu(x) + 1, above 0 for every number
double feature(float x) {
  const auto value = static_cast<double>(x);
  return value > 0 ? value + 1 : std::exp(value);
}

/// What the keys up to now have left behind.
class Memory {
 public:
  Memory(std::size_t key_width, std::size_t value_width)
      : keys_(key_width), products_(key_width * value_width), read_(value_width) {}

  void add(const float* key, const float* value) {
    const std::size_t width = read_.size();
    for (std::size_t e = 0; e < keys_.size(); ++e) {
      const double weight = feature(key[e]);
      keys_[e] += weight;
      for (std::size_t c = 0; c < width; ++c) {
        products_[e * width + c] += weight * static_cast<double>(value[c]);
      }
    }
  }

  void read(const float* query, double eps, float* output) {
    const std::size_t width = read_.size();
    std::fill(read_.begin(), read_.end(), 0.0);
    double divisor = eps;
    for (std::size_t e = 0; e < keys_.size(); ++e) {
      const double weight = feature(query[e]);
      divisor += weight * keys_[e];
      for (std::size_t c = 0; c < width; ++c) {
        read_[c] += weight * products_[e * width + c];
      }
    }
    for (std::size_t c = 0; c < width; ++c) {
      output[c] = divisor == 0 ? 0.0F : within_float_range(read_[c] / divisor);
    }
  }

 private:
  std::vector<double> keys_;      // [E]
  std::vector<double> products_;  // [E, Ev]
  std::vector<double> read_;      // [Ev]
};

}  // namespace

Tensor4 linear_attention(const Tensor4& q, const Tensor4& k, const Tensor4& v, bool causal,
                         const std::optional<NdBool>& key_mask, double eps) {
  require_attention_shapes(q.shape(), k.shape(), v.shape());
  if (!(std::isfinite(eps) && eps >= 0)) {
    fail(ErrorCode::OPTION, "eps must be a finite number, 0 or more");
  }
  const std::size_t batch = q.shape(0), queries = q.shape(2), keys = k.shape(2);
  if (causal && queries != keys) {
    fail(ErrorCode::AMBIGUOUS_CAUSAL, "causal: linear attention wants L = S, not L = % and S = %",
         {queries, keys});
  }
  if (key_mask && shape_of(*key_mask) != Shape{batch, keys}) {
    fail(ErrorCode::MASK_SHAPE, "keyMask %, expected [B, S] = %",
         {key_mask->shape(), std::array<std::size_t, 2>{batch, keys}});
  }

  const std::array<std::size_t, 4> shape{batch, q.shape(1), queries, v.shape(3)};
  require_addressable(shape, "output");
  Tensor4 output = xt::empty<float>(shape);
  const std::size_t group = q.shape(1) / k.shape(1);
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t head = 0; head < k.shape(1); ++head) {
      Memory memory(k.shape(3), v.shape(3));
      const auto read = [&](std::size_t i) {
        for (std::size_t h = head * group; h < (head + 1) * group; ++h) {
          memory.read(&q(b, h, i, 0), eps, &output(b, h, i, 0));
        }
      };
      for (std::size_t j = 0; j < keys; ++j) {
        if (!key_mask || key_mask->data()[b * keys + j] != 0) {
          memory.add(&k(b, head, j, 0), &v(b, head, j, 0));
        }
        if (causal) {
          read(j);
        }
      }
      for (std::size_t i = 0; !causal && i < queries; ++i) {
        read(i);
      }
    }
  }
  return output;
}

}  // namespace softlookup
