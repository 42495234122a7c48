#pragma once

#include <cstddef>
#include <functional>
#include <vector>

// The expected numbers: scalar loops in double precision, written from the formulae and sharing
// nothing with src/, not even a header. Slow and plain on purpose.

/// Row-major.
struct Numbers {
  std::vector<std::size_t> shape;
  std::vector<double> data;
};

namespace oracle {

/// What is added to a score; -Infinity where query i may not see key j.
using Bias = std::function<double(std::size_t b, std::size_t h, std::size_t i, std::size_t j)>;

double no_bias(std::size_t b, std::size_t h, std::size_t i, std::size_t j);

/// NumPy's rule: lined up at the last axis, an axis of 1 is repeated.
double broadcast_at(const Numbers& x, std::size_t b, std::size_t h, std::size_t i, std::size_t j);

struct Passes {
  Numbers scores, scaled, masked;  // [B, H, L, S]
  Numbers row_max;                 // [B, H, L]
  Numbers exp;                     // [B, H, L, S]
  Numbers row_sum;                 // [B, H, L]
  Numbers weights;                 // [B, H, L, S]
  Numbers output;                  // [B, H, L, Ev]
};

/// What is done to scores besides scale and bias; 0 and empty: nothing.
struct Form {
  double softcap = 0;         // c tanh(s / c), before the bias
  std::vector<double> sinks;  // [H]: one more logit, whose weight goes nowhere
};

/// q [B, H, L, E], k [B, Hkv, S, E], v [B, Hkv, S, Ev].
Passes attention(const Numbers& q, const Numbers& k, const Numbers& v, const Bias& bias,
                 double scale, const Form& form = {});
Passes attention(const Numbers& q, const Numbers& k, const Numbers& v, const Bias& bias = no_bias);

/// y[b, l, o] = sum over i of x[b, l, i] weight[o, i] + bias[o]; `bias` may be empty.
Numbers linear(const Numbers& x, const Numbers& weight, const Numbers& bias);

struct MultiHead {
  std::size_t heads;
  Numbers query_weight, key_weight, value_weight, output_weight;  // [out, in]
  Numbers query_bias, key_bias, value_bias, output_bias;          // [out] or empty
};

/// Head by head, on the columns that belong to it: no split, no merge. -> [B, L, D]
Numbers multi_head(const MultiHead& layer, const Numbers& query, const Numbers& key,
                   const Numbers& value, const Bias& bias = no_bias);

}  // namespace oracle
