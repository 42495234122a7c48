#include "heads.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "error.hpp"

namespace softlookup {

Tensor4 split_heads(const Tensor3& x, std::size_t heads) {
  if (heads == 0 || x.shape(2) % heads != 0) {
    fail(ErrorCode::HEADS, "numHeads = % does not divide the last axis of x %", {heads, x.shape()});
  }
  const std::size_t head_dim = x.shape(2) / heads;
  Tensor4 split = Tensor4::from_shape({x.shape(0), heads, x.shape(1), head_dim});
  for (std::size_t b = 0; b < x.shape(0); ++b) {
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t i = 0; i < x.shape(1); ++i) {
        std::copy_n(x.data() + (b * x.shape(1) + i) * x.shape(2) + h * head_dim, head_dim,
                    split.data() + ((b * heads + h) * x.shape(1) + i) * head_dim);
      }
    }
  }
  return split;
}

Tensor3 merge_heads(const Tensor4& x) {
  const std::size_t head_dim = x.shape(3);
  Tensor3 merged = Tensor3::from_shape({x.shape(0), x.shape(2), x.shape(1) * head_dim});
  for (std::size_t b = 0; b < x.shape(0); ++b) {
    for (std::size_t h = 0; h < x.shape(1); ++h) {
      for (std::size_t i = 0; i < x.shape(2); ++i) {
        std::copy_n(x.data() + ((b * x.shape(1) + h) * x.shape(2) + i) * head_dim, head_dim,
                    merged.data() + (b * x.shape(2) + i) * merged.shape(2) + h * head_dim);
      }
    }
  }
  return merged;
}

Tensor4 repeat_kv(const Tensor4& x, std::size_t n) {
  if (n == 0) {
    fail(ErrorCode::HEADS, "n = 0: at least one copy of each head of x % is wanted", {x.shape()});
  }
  const std::array<std::size_t, 4> shape{x.shape(0), x.shape(1) * n, x.shape(2), x.shape(3)};
  require_addressable(shape, "result");
  Tensor4 repeated = Tensor4::from_shape(shape);
  const std::size_t head = x.shape(2) * x.shape(3);
  for (std::size_t row = 0; row < shape[0] * shape[1]; ++row) {
    std::copy_n(x.data() + row / n * head, head, repeated.data() + row * head);
  }
  return repeated;
}

}  // namespace softlookup
