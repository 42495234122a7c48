#include "kv_cache.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "error.hpp"

namespace softlookup {

namespace {

Tensor4 storage(const KVCache::Size& size) {
  const std::array<std::size_t, 4> shape{size.batch, size.num_kv_heads, size.capacity,
                                         size.head_dim};
  require_addressable(shape, "cache");
  return xt::zeros<float>(shape);
}

/// Copies `count` tokens of every batch row and head: `from` starting at token from_first, `to` at
/// to_first, each by batch row.
struct TokenCopy {
  std::size_t b, from_first, to_first, count;

  void operator()(const Tensor4& from, Tensor4& to) const {
    const std::size_t width = from.shape(3);
    for (std::size_t h = 0; h < from.shape(1) && count > 0; ++h) {
      std::copy_n(&from(b, h, from_first, 0), count * width, &to(b, h, to_first, 0));
    }
  }
};

}  // namespace

KVCache::KVCache(const Size& size)
    : size_(size), lengths_(size.batch, 0), positions_(size.batch, 0) {
  if (size.batch == 0 || size.num_kv_heads == 0 || size.head_dim == 0) {
    throw Error(ErrorCode::OPTION, {"cache: batch, numKvHeads and headDim must be above 0"});
  }
  keys_ = storage(size);
  values_ = storage(size);
}

void Chunk::require_valid(std::size_t batch, std::size_t tokens) const {
  if (!lengths.empty() && lengths.size() != batch) {
    throw Error(ErrorCode::SHAPE, {"lengths [", std::to_string(lengths.size()),
                                   "], expected B = ", std::to_string(batch)});
  }
  for (const std::size_t length : lengths) {
    if (length > tokens) {
      throw Error(ErrorCode::OPTION, {"lengths: ", std::to_string(length), " exceeds the ",
                                      std::to_string(tokens), " tokens given"});
    }
  }
}

void KVCache::require_room(const Tensor4& k, const Tensor4& v, const Chunk& chunk) const {
  const std::size_t tokens = k.shape(2);
  const Shape expected{size_.batch, size_.num_kv_heads, tokens, size_.head_dim};
  if (shape_of(k) != expected || shape_of(v) != expected) {
    throw Error(ErrorCode::SHAPE, {"cache: k ", shape_text(k.shape()), " and v ",
                                   shape_text(v.shape()), ", expected ", shape_text(expected)});
  }
  chunk.require_valid(size_.batch, tokens);
  for (std::size_t b = 0; b < size_.batch; ++b) {
    if (lengths_[b] + chunk.real(b, tokens) > size_.capacity) {
      throw Error(ErrorCode::CACHE_FULL,
                  {"cache: row ", std::to_string(b), " holds ", std::to_string(lengths_[b]), " of ",
                   std::to_string(size_.capacity), " tokens and cannot take ",
                   std::to_string(chunk.real(b, tokens)), " more"});
    }
  }
}

void KVCache::append(const Tensor4& k, const Tensor4& v, const Chunk& chunk) {
  require_room(k, v, chunk);
  const std::size_t tokens = k.shape(2);
  for (std::size_t b = 0; b < size_.batch; ++b) {
    const std::size_t count = chunk.real(b, tokens);
    const TokenCopy copy{b, chunk.first(b, tokens), lengths_[b], count};
    copy(k, keys_);
    copy(v, values_);
    lengths_[b] += count;
    positions_[b] += static_cast<std::int64_t>(count);
  }
}

std::size_t KVCache::longest_with(std::size_t tokens, const Chunk& chunk) const {
  std::size_t longest = 0;
  for (std::size_t b = 0; b < size_.batch; ++b) {
    longest = std::max(longest, lengths_[b] + chunk.real(b, tokens));
  }
  return longest;
}

Tensor4 KVCache::extended(const Tensor4& held, const Tensor4& added, const Chunk& chunk) const {
  const std::size_t tokens = added.shape(2);
  Size size = size_;
  size.capacity = longest_with(tokens, chunk);
  Tensor4 all = storage(size);
  for (std::size_t b = 0; b < size_.batch; ++b) {
    TokenCopy{b, 0, 0, lengths_[b]}(held, all);
    TokenCopy{b, chunk.first(b, tokens), lengths_[b], chunk.real(b, tokens)}(added, all);
  }
  return all;
}

Tensor4 KVCache::keys_with(const Tensor4& k, const Chunk& chunk) const {
  return extended(keys_, k, chunk);
}

Tensor4 KVCache::values_with(const Tensor4& v, const Chunk& chunk) const {
  return extended(values_, v, chunk);
}

void KVCache::drop_oldest(std::size_t count) {
  for (std::size_t b = 0; b < size_.batch; ++b) {
    const std::size_t dropped = std::min(count, lengths_[b]);
    const TokenCopy shift{b, dropped, 0, lengths_[b] - dropped};
    shift(keys_, keys_);
    shift(values_, values_);
    lengths_[b] -= dropped;
  }
}

void KVCache::reset() {
  std::fill(lengths_.begin(), lengths_.end(), 0);
  std::fill(positions_.begin(), positions_.end(), 0);
}

void KVCache::grow(std::size_t capacity) {
  if (capacity < size_.capacity) {
    throw Error(ErrorCode::OPTION, {"capacity = ", std::to_string(capacity),
                                    " is below the present ", std::to_string(size_.capacity)});
  }
  Size size = size_;
  size.capacity = capacity;
  Tensor4 keys = storage(size);
  Tensor4 values = storage(size);
  for (std::size_t b = 0; b < size_.batch; ++b) {
    const TokenCopy copy{b, 0, 0, lengths_[b]};
    copy(keys_, keys);
    copy(values_, values);
  }
  keys_ = std::move(keys);
  values_ = std::move(values);
  size_ = size;
}

}  // namespace softlookup
