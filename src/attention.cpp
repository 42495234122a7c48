#include "attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "attention_checks.hpp"
#include "float_range.hpp"
#include "softmax.hpp"

namespace softlookup {

void cap_softly(float* scores, std::size_t count, float cap) {
  std::transform(scores, scores + count, scores, [cap](float score) {
    return static_cast<float>(cap * std::tanh(static_cast<double>(score) / cap));
  });
}

Tensor4 dot_products(const Tensor4& q, const Tensor4& k) {
  const std::size_t group = q.shape(1) / k.shape(1);
  const std::array<std::size_t, 4> shape{q.shape(0), q.shape(1), q.shape(2), k.shape(2)};
  require_addressable(shape, "scores");
  Tensor4 scores = xt::empty<float>(shape);
  for (std::size_t b = 0; b < q.shape(0); ++b) {
    for (std::size_t h = 0; h < q.shape(1); ++h) {
      for (std::size_t i = 0; i < q.shape(2); ++i) {
        const float* query = &q(b, h, i, 0);
        for (std::size_t j = 0; j < k.shape(2); ++j) {
          const float* key = &k(b, h / group, j, 0);
          double dot = 0;
          for (std::size_t e = 0; e < q.shape(3); ++e) {
            dot += static_cast<double>(query[e]) * static_cast<double>(key[e]);
          }
          scores(b, h, i, j) = within_float_range(dot);
        }
      }
    }
  }
  return scores;
}

Tensor4 weighted_sum(const Tensor4& weights, const Tensor4& v, const MaskRule& rule) {
  const std::size_t group = weights.shape(1) / v.shape(1);
  const std::size_t head_dim = v.shape(3);
  const std::array<std::size_t, 4> shape{weights.shape(0), weights.shape(1), weights.shape(2),
                                         head_dim};
  require_addressable(shape, "output");
  Tensor4 output = xt::empty<float>(shape);
  std::vector<double> sum(head_dim);
  for (std::size_t b = 0; b < weights.shape(0); ++b) {
    for (std::size_t h = 0; h < weights.shape(1); ++h) {
      for (std::size_t i = 0; i < weights.shape(2); ++i) {
        std::fill(sum.begin(), sum.end(), 0.0);
        for (std::size_t j = 0; j < v.shape(2); ++j) {
          if (rule.hides(b, h, i, j)) {
            continue;  // 0 * NaN is NaN: a weight of 0 alone does not keep v out
          }
          const double weight = weights(b, h, i, j);
          const float* value = &v(b, h / group, j, 0);
          for (std::size_t c = 0; c < head_dim; ++c) {
            sum[c] += weight * static_cast<double>(value[c]);
          }
        }
        std::transform(sum.begin(), sum.end(), &output(b, h, i, 0), to_float);
      }
    }
  }
  return output;
}

AttentionResult attention(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                          const AttentionOptions& options, Trace* trace) {
  require_attention_shapes(q.shape(), k.shape(), v.shape());
  const MaskRule rule(options, {q.shape(0), q.shape(1), q.shape(2), k.shape(2)});
  const float scale = resolve_scale(options.scale, q.shape(3));
  require_valid_softcap(options.softcap);

  // 1. S = Q K^T
  Tensor4 scores = dot_products(q, k);  // [B, Hq, L, S]
  if (trace != nullptr) {
    trace->record("scores", "Q Kᵀ", scores);
  }

  // 2. S * scale
  for (float& score : scores) {
    score = within_float_range(static_cast<double>(score) * static_cast<double>(scale));
  }
  if (trace != nullptr) {
    trace->record("scaled", "scores × scale", scores);
  }

  if (options.softcap) {
    cap_softly(scores.data(), scores.size(), *options.softcap);
    if (trace != nullptr) {
      trace->record("capped", "softcap × tanh(scaled / softcap)", scores);
    }
  }

  // 3. W = softmax(S + mask), row by row
  masked_softmax(scores, rule, trace, options.sinks);

  // 4. O = W V
  Tensor4 output = weighted_sum(scores, v, rule);  // [B, Hq, L, Ev]
  if (trace != nullptr) {
    trace->record("output", "weights V", output);
  }
  return {std::move(output), std::move(scores)};
}

}  // namespace softlookup
