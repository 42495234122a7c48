#include "additive.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "attention.hpp"
#include "error.hpp"
#include "float_range.hpp"
#include "linear.hpp"
#include "sequences.hpp"
#include "softmax.hpp"

namespace softlookup {

namespace {

void require_parameter(const Shape& got, const Shape& wanted, const char* name,
                       const char* letters) {
  if (got != wanted) {
    fail(ErrorCode::SHAPE, "% %, expected % = %", {name, got, letters, wanted});
  }
}

void require_fitting(const AdditiveParameters& parameters, const Tensor3& query,
                     const Tensor3& key) {
  const auto& [w, u, v, b] = parameters;
  const std::size_t width = v.size();
  if (width == 0) {
    fail(ErrorCode::SHAPE, "v % must not be empty", {v.shape()});
  }
  require_parameter(shape_of(w), {width, query.shape(2)}, "W", "[A, Dq]");
  require_parameter(shape_of(u), {width, key.shape(2)}, "U", "[A, Dk]");
  if (b.size() != 0) {
    require_parameter(shape_of(b), {width}, "b", "[A]");
  }
}

/// The rule would name axes that the caller does not know.
void require_mask_shape(const std::optional<Mask>& mask, const Shape& target) {
  if (!mask) {
    return;
  }
  const Shape own = mask_shape(*mask);
  bool fits = own.size() <= target.size();
  for (std::size_t back = 1; fits && back <= own.size(); ++back) {
    const std::size_t size = own[own.size() - back];
    fits = size == 1 || size == target[target.size() - back];
  }
  if (!fits) {
    fail(ErrorCode::MASK_SHAPE, "mask % does not broadcast to [B, L, S] = %", {own, target});
  }
}

/// [B, L, D] -> [1, B, L, D]
Tensor4 in_place_of_heads(const Tensor3& x) {
  Tensor4 y = Tensor4::from_shape({1, x.shape(0), x.shape(1), x.shape(2)});
  std::copy_n(x.data(), x.size(), y.data());
  return y;
}

/// [1, B, L, D] -> [B, L, D]
Tensor3 without_first_axis(const Tensor4& x) {
  Tensor3 y = Tensor3::from_shape({x.shape(1), x.shape(2), x.shape(3)});
  std::copy_n(x.data(), x.size(), y.data());
  return y;
}

/// q [1, B, L, A], k [1, B, S, A] -> v . tanh(q_i + k_j), [1, B, L, S]
Tensor4 additive_scores(const Tensor4& q, const Tensor4& k, const Tensor1& v) {
  const std::size_t batch = q.shape(1), queries = q.shape(2), keys = k.shape(2), width = v.size();
  const std::array<std::size_t, 4> shape{1, batch, queries, keys};
  require_addressable(shape, "scores");
  Tensor4 scores = xt::empty<float>(shape);
  for (std::size_t n = 0; n < scores.size(); ++n) {
    const std::size_t row = n / keys;  // of all queries
    const float* query = q.data() + row * width;
    const float* key = k.data() + (row / queries * keys + n % keys) * width;
    double sum = 0;
    for (std::size_t a = 0; a < width; ++a) {
      sum += static_cast<double>(v(a)) *
             std::tanh(static_cast<double>(query[a]) + static_cast<double>(key[a]));
    }
    scores.data()[n] = within_float_range(sum);
  }
  return scores;
}

}  // namespace

void require_additive_shapes(const Shape& query, const Shape& key, const Shape& value) {
  require_sequences(query, key, value);
  if (query.back() == 0 || key.back() == 0 || value.back() == 0) {
    fail(ErrorCode::SHAPE, "query %, key %, value %: the last axis must not be 0",
         {query, key, value});
  }
}

AdditiveResult additive_attention(const Tensor3& query, const Tensor3& key, const Tensor3& value,
                                  const AdditiveParameters& parameters,
                                  const std::optional<Mask>& mask, Trace* trace) {
  require_additive_shapes(shape_of(query), shape_of(key), shape_of(value));
  require_fitting(parameters, query, key);
  const std::size_t batch = query.shape(0), queries = query.shape(1), keys = key.shape(1);
  require_mask_shape(mask, {batch, queries, keys});
  const MaskRule rule(mask ? std::vector<Mask>{*mask} : std::vector<Mask>{}, Causal::none,
                      {1, batch, queries, keys});
  const auto note = [trace](const char* id, const char* formula, const Tensor4& tensor) {
    if (trace != nullptr) {
      trace->record(id, formula, tensor);
    }
  };

  // 1. project both into the same space
  const Tensor4 q = in_place_of_heads(linear(query, parameters.w, parameters.b));  // [1, B, L, A]
  const Tensor4 k = in_place_of_heads(linear(key, parameters.u, Tensor1()));       // [1, B, S, A]
  note("query", "W query + b", q);
  note("key", "U key", k);

  // 2. s_ij = v . tanh(q_i + k_j)
  Tensor4 scores = additive_scores(q, k, parameters.v);
  note("scores", "v · tanh(query + key)", scores);

  // 3. softmax(s + mask), row by row
  masked_softmax(scores, rule, trace);

  // 4. the weighted sum
  const Tensor4 output = batch == 0  // where weighted_sum would see no head
                             ? Tensor4::from_shape({1, 0, queries, value.shape(2)})
                             : weighted_sum(scores, in_place_of_heads(value), rule);
  note("output", "weights value", output);
  return {without_first_axis(output), without_first_axis(scores)};
}

}  // namespace softlookup
