#include "exact_row.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tensor.hpp"

namespace softlookup {

void attend_row(const float* query, std::size_t b, std::size_t h, std::size_t i,
                const PanelsView<const float>& keys, const PanelsView<const float>& values,
                const MaskRule& rule, const AttentionOptions& options, float* output) {
  const MaskRule::Reach reach = rule.reach(b, i);
  std::vector<std::size_t> seen;
  std::vector<float> biases;
  for (std::size_t j = reach.first; j < reach.last; ++j) {
    const float bias = rule.bias(b, h, i, j);
    if (bias != kHidden) {
      seen.push_back(j);
      biases.push_back(bias);
    }
  }
  const std::size_t head_dim = keys.depth();
  const std::size_t value_dim = values.rows();
  Tensor4 q = Tensor4::from_shape({1, 1, 1, head_dim});
  Tensor4 k = Tensor4::from_shape({1, 1, seen.size(), head_dim});
  Tensor4 v = Tensor4::from_shape({1, 1, seen.size(), value_dim});
  NdArray bias = NdArray::from_shape({1, seen.size()});
  std::copy_n(query, head_dim, q.data());
  std::copy(biases.begin(), biases.end(), bias.data());
  for (std::size_t n = 0; n < seen.size(); ++n) {
    for (std::size_t e = 0; e < head_dim; ++e) {
      k(0, 0, n, e) = keys(seen[n], e);
    }
    for (std::size_t c = 0; c < value_dim; ++c) {
      v(0, 0, n, c) = values(c, seen[n]);
    }
  }
  AttentionOptions row;
  row.scale = options.scale;
  row.softcap = options.softcap;
  if (!options.sinks.empty()) {
    row.sinks = {options.sinks[h]};
  }
  row.masks.emplace_back(std::move(bias));
  std::copy_n(attention(q, k, v, row).output.data(), value_dim, output);
}

}  // namespace softlookup
