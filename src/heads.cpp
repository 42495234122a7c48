#include "heads.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "error.hpp"

namespace softlookup {

namespace {

void copy(const View4<const float>& from, const View4<float>& to) {
  const auto [batch, heads, rows, head_dim] = from.shape;
  for (std::size_t b = 0; b < batch; ++b) {
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t i = 0; i < rows; ++i) {
        std::copy_n(from.row(b, h, i), head_dim, to.row(b, h, i));
      }
    }
  }
}

}  // namespace

View4<const float> heads_of(const Tensor3& x, std::size_t heads) {
  const auto [batch, rows, width] = x.shape();
  if (heads == 0 || width % heads != 0) {
    fail(ErrorCode::HEADS, "numHeads = % does not divide the last axis of x %", {heads, x.shape()});
  }
  const std::size_t head_dim = width / heads;
  return {x.data(), {batch, heads, rows, head_dim}, {rows * width, head_dim, width}};
}

View4<float> heads_of(Tensor3& x, std::size_t heads) {
  const View4<const float> seen = heads_of(std::as_const(x), heads);
  return {x.data(), seen.shape, seen.strides};
}

Tensor4 split_heads(const Tensor3& x, std::size_t heads) {
  const View4<const float> whole = heads_of(x, heads);
  Tensor4 split = Tensor4::from_shape(whole.shape);
  copy(whole, view_of(split));
  return split;
}

Tensor3 merge_heads(const Tensor4& x) {
  Tensor3 merged = Tensor3::from_shape({x.shape(0), x.shape(2), x.shape(1) * x.shape(3)});
  copy(view_of(x), heads_of(merged, x.shape(1)));
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
