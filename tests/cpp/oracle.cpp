#include "oracle.hpp"

#include <cmath>
#include <limits>

namespace oracle {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Numbers filled(const std::vector<std::size_t>& shape, double value) {
  std::size_t size = 1;
  for (const std::size_t n : shape) {
    size *= n;
  }
  return {shape, std::vector<double>(size, value)};
}

std::size_t at(const Numbers& x, std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  return ((b * x.shape[1] + h) * x.shape[2] + i) * x.shape[3] + j;
}

std::size_t at(const Numbers& x, std::size_t b, std::size_t i, std::size_t j) {
  return (b * x.shape[1] + i) * x.shape[2] + j;
}

/// Columns first ... first + count - 1 of [B, n, D], as [B, 1, n, count].
Numbers columns(const Numbers& x, std::size_t first, std::size_t count) {
  Numbers part = filled({x.shape[0], 1, x.shape[1], count}, 0);
  for (std::size_t b = 0; b < x.shape[0]; ++b) {
    for (std::size_t i = 0; i < x.shape[1]; ++i) {
      for (std::size_t e = 0; e < count; ++e) {
        part.data[at(part, b, 0, i, e)] = x.data[at(x, b, i, first + e)];
      }
    }
  }
  return part;
}

}  // namespace

double no_bias(std::size_t, std::size_t, std::size_t, std::size_t) { return 0; }

double broadcast_at(const Numbers& x, std::size_t b, std::size_t h, std::size_t i, std::size_t j) {
  const std::size_t position[4] = {b, h, i, j};
  std::size_t offset = 0;
  for (std::size_t axis = 0; axis < x.shape.size(); ++axis) {
    const std::size_t wanted = position[4 - x.shape.size() + axis];
    offset = offset * x.shape[axis] + (x.shape[axis] == 1 ? 0 : wanted);
  }
  return x.data[offset];
}

Passes attention(const Numbers& q, const Numbers& k, const Numbers& v, const Bias& bias,
                 double scale, const Form& form) {
  const std::size_t batch = q.shape[0], heads = q.shape[1], queries = q.shape[2];
  const std::size_t keys = k.shape[2], head_dim = q.shape[3], value_dim = v.shape[3];
  const std::size_t heads_per_group = heads / k.shape[1];
  Passes p;
  p.scores = p.scaled = p.masked = p.exp = p.weights = filled({batch, heads, queries, keys}, 0);
  p.row_max = filled({batch, heads, queries}, -kInfinity);
  p.row_sum = filled({batch, heads, queries}, 0);
  p.output = filled({batch, heads, queries, value_dim}, 0);

  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t h = 0; h < heads; ++h) {
      const std::size_t g = h / heads_per_group;
      for (std::size_t i = 0; i < queries; ++i) {
        double& max = p.row_max.data[(b * heads + h) * queries + i];
        double& sum = p.row_sum.data[(b * heads + h) * queries + i];
        for (std::size_t j = 0; j < keys; ++j) {
          const std::size_t here = at(p.scores, b, h, i, j);
          for (std::size_t e = 0; e < head_dim; ++e) {
            p.scores.data[here] += q.data[at(q, b, h, i, e)] * k.data[at(k, b, g, j, e)];
          }
          p.scaled.data[here] = p.scores.data[here] * scale;
          if (form.softcap > 0) {
            p.scaled.data[here] = form.softcap * std::tanh(p.scaled.data[here] / form.softcap);
          }
          const double added = bias(b, h, i, j);
          p.masked.data[here] = added == -kInfinity ? added : p.scaled.data[here] + added;
          max = std::fmax(max, p.masked.data[here]);
        }
        if (!form.sinks.empty()) {
          max = std::fmax(max, form.sinks[h]);
          sum = std::exp(form.sinks[h] - max);
        }
        for (std::size_t j = 0; j < keys; ++j) {
          const std::size_t here = at(p.scores, b, h, i, j);
          if (p.masked.data[here] != -kInfinity) {
            p.exp.data[here] = std::exp(p.masked.data[here] - max);
            sum += p.exp.data[here];
          }
        }
        for (std::size_t j = 0; j < keys; ++j) {
          const std::size_t here = at(p.scores, b, h, i, j);
          if (p.masked.data[here] == -kInfinity) {
            continue;
          }
          p.weights.data[here] = p.exp.data[here] / sum;
          for (std::size_t c = 0; c < value_dim; ++c) {
            p.output.data[at(p.output, b, h, i, c)] +=
                p.weights.data[here] * v.data[at(v, b, g, j, c)];
          }
        }
      }
    }
  }
  return p;
}

Passes attention(const Numbers& q, const Numbers& k, const Numbers& v, const Bias& bias) {
  return attention(q, k, v, bias, 1 / std::sqrt(static_cast<double>(q.shape[3])));
}

Numbers linear(const Numbers& x, const Numbers& weight, const Numbers& bias) {
  const std::size_t in = weight.shape[1], out = weight.shape[0];
  Numbers y = filled({x.shape[0], x.shape[1], out}, 0);
  for (std::size_t row = 0; row < x.shape[0] * x.shape[1]; ++row) {
    for (std::size_t o = 0; o < out; ++o) {
      double sum = bias.data.empty() ? 0 : bias.data[o];
      for (std::size_t i = 0; i < in; ++i) {
        sum += x.data[row * in + i] * weight.data[o * in + i];
      }
      y.data[row * out + o] = sum;
    }
  }
  return y;
}

Numbers multi_head(const MultiHead& layer, const Numbers& query, const Numbers& key,
                   const Numbers& value, const Bias& bias) {
  const Numbers q = linear(query, layer.query_weight, layer.query_bias);
  const Numbers k = linear(key, layer.key_weight, layer.key_bias);
  const Numbers v = linear(value, layer.value_weight, layer.value_bias);
  const std::size_t width = q.shape[2] / layer.heads;
  Numbers side_by_side = filled(q.shape, 0);
  for (std::size_t head = 0; head < layer.heads; ++head) {
    const auto bias_of_head = [&](std::size_t b, std::size_t, std::size_t i, std::size_t j) {
      return bias(b, head, i, j);
    };
    const Numbers one = attention(columns(q, head * width, width), columns(k, head * width, width),
                                  columns(v, head * width, width), bias_of_head)
                            .output;
    for (std::size_t b = 0; b < q.shape[0]; ++b) {
      for (std::size_t i = 0; i < q.shape[1]; ++i) {
        for (std::size_t e = 0; e < width; ++e) {
          side_by_side.data[at(side_by_side, b, i, head * width + e)] =
              one.data[at(one, b, 0, i, e)];
        }
      }
    }
  }
  return linear(side_by_side, layer.output_weight, layer.output_bias);
}

}  // namespace oracle
