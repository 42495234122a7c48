#include "attention_checks.hpp"

#include <cmath>

#include "error.hpp"

namespace softlookup {

void require_attention_shapes(const ShapeView& q, const ShapeView& k, const ShapeView& v) {
  const auto require = [&](bool holds, ErrorCode code, const char* rule) {
    if (!holds) {
      fail(code, "q %, k %, v %: %", {q, k, v, rule});
    }
  };
  for (const ShapeView* shape : {&q, &k, &v}) {
    require(shape->size() >= 2 && shape->size() <= 4, ErrorCode::RANK, "expected 2 to 4 axes");
    require(shape->size() == q.size(), ErrorCode::RANK, "expected the same number of axes");
  }
  const auto size = [](const ShapeView& shape, std::size_t from_end) {
    return from_end <= shape.size() ? shape[shape.size() - from_end] : 1;
  };
  constexpr std::size_t kDim = 1, kLength = 2, kHeads = 3, kBatch = 4;  // counted from the end
  require(size(q, kHeads) > 0 && size(k, kHeads) > 0, ErrorCode::HEADS,
          "at least one head is wanted");
  require(size(q, kDim) > 0 && size(v, kDim) > 0, ErrorCode::SHAPE, "the head dim must not be 0");
  require(size(k, kBatch) == size(q, kBatch) && size(v, kBatch) == size(q, kBatch),
          ErrorCode::SHAPE, "the batch sizes differ");
  require(size(k, kDim) == size(q, kDim), ErrorCode::SHAPE, "q and k must have the same head dim");
  require(size(v, kHeads) == size(k, kHeads), ErrorCode::SHAPE,
          "k and v must have the same number of heads");
  require(size(v, kLength) == size(k, kLength), ErrorCode::SHAPE,
          "k and v must have the same number of keys");
  require(size(q, kHeads) % size(k, kHeads) == 0, ErrorCode::HEADS,
          "the key/value heads must divide the query heads");
}

float resolve_scale(const std::optional<float>& scale, std::size_t head_dim) {
  if (!scale) {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(head_dim)));
  }
  if (!std::isfinite(*scale)) {
    fail(ErrorCode::OPTION, "scale must be a finite number");
  }
  return *scale;
}

void require_valid_softcap(const std::optional<float>& cap) {
  if (cap && (!std::isfinite(*cap) || *cap <= 0)) {
    fail(ErrorCode::OPTION, "softcap must be above 0");
  }
}

}  // namespace softlookup
