#include "kv_cache.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "error.hpp"

namespace softlookup {

namespace {

PackedKeyValues storage(const KVCache::Size& size) {
  const std::size_t slots =
      std::max<std::size_t>(size.capacity, 1);  // the heads count without, too
  const Shape shape{size.batch, size.num_kv_heads, slots, size.head_dim};
  require_addressable(shape, "cache");
  const std::size_t heads = size.batch * size.num_kv_heads;
  return {std::vector<Panels>(heads, Panels(size.capacity, size.head_dim)),
          std::vector<Panels>(heads, Panels(size.head_dim, size.capacity))};
}

}  // namespace

KVCache::KVCache(const Size& size)
    : size_(size), lengths_(size.batch, 0), positions_(size.batch, 0) {
  if (size.batch == 0 || size.num_kv_heads == 0 || size.head_dim == 0) {
    fail(ErrorCode::OPTION, "cache: batch, numKvHeads and headDim must be above 0");
  }
  packed_ = storage(size);
}

void Chunk::require_valid(std::size_t batch, std::size_t tokens) const {
  if (!lengths.empty() && lengths.size() != batch) {
    fail(ErrorCode::SHAPE, "lengths [%], expected B = %", {lengths.size(), batch});
  }
  for (const std::size_t length : lengths) {
    if (length > tokens) {
      fail(ErrorCode::OPTION, "lengths: % exceeds the % tokens given", {length, tokens});
    }
  }
}

void KVCache::require_room(const Tensor4& k, const Tensor4& v, const Chunk& chunk) const {
  const std::size_t tokens = k.shape(2);
  const Shape expected{size_.batch, size_.num_kv_heads, tokens, size_.head_dim};
  if (shape_of(k) != expected || shape_of(v) != expected) {
    fail(ErrorCode::SHAPE, "cache: k % and v %, expected %", {k.shape(), v.shape(), expected});
  }
  chunk.require_valid(size_.batch, tokens);
  for (std::size_t b = 0; b < size_.batch; ++b) {
    if (lengths_[b] + chunk.real(b, tokens) > size_.capacity) {
      fail(ErrorCode::CACHE_FULL, "cache: row % holds % of % tokens and cannot take % more",
           {b, lengths_[b], size_.capacity, chunk.real(b, tokens)});
    }
  }
}

void KVCache::append(const Tensor4& k, const Tensor4& v, const Chunk& chunk) {
  require_room(k, v, chunk);
  const std::size_t tokens = k.shape(2);
  for (std::size_t b = 0; b < size_.batch; ++b) {
    const std::size_t count = chunk.real(b, tokens);
    const std::size_t first = chunk.first(b, tokens);
    for (std::size_t h = 0; h < size_.num_kv_heads; ++h) {
      const std::size_t own = b * size_.num_kv_heads + h;
      for (std::size_t token = 0; token < count; ++token) {
        set_row(packed_.keys[own].view(), lengths_[b] + token, &k(b, h, first + token, 0));
        set_column(packed_.values[own].view(), lengths_[b] + token, &v(b, h, first + token, 0));
      }
    }
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

template <class Held>
Tensor4 KVCache::extended(const Held& held, const Tensor4& added, const Chunk& chunk) const {
  const std::size_t tokens = added.shape(2);
  const std::array<std::size_t, 4> shape{size_.batch, size_.num_kv_heads,
                                         longest_with(tokens, chunk), size_.head_dim};
  require_addressable(shape, "keys");
  Tensor4 all(shape, 0.0F);
  for (std::size_t b = 0; b < size_.batch; ++b) {
    for (std::size_t h = 0; h < size_.num_kv_heads; ++h) {
      float* row = all.data() + (b * shape[1] + h) * shape[2] * shape[3];
      for (std::size_t j = 0; j < lengths_[b]; ++j) {
        for (std::size_t e = 0; e < shape[3]; ++e) {
          *row++ = held(b * shape[1] + h, j, e);
        }
      }
      const std::size_t count = chunk.real(b, tokens) * shape[3];
      if (count > 0) {
        std::copy_n(&added(b, h, chunk.first(b, tokens), 0), count, row);
      }
    }
  }
  return all;
}

Tensor4 KVCache::keys_with(const Tensor4& k, const Chunk& chunk) const {
  return extended(
      [this](std::size_t own, std::size_t j, std::size_t e) { return packed_.keys[own](j, e); }, k,
      chunk);
}

Tensor4 KVCache::values_with(const Tensor4& v, const Chunk& chunk) const {
  return extended(
      [this](std::size_t own, std::size_t j, std::size_t e) { return packed_.values[own](e, j); },
      v, chunk);
}

void KVCache::drop_oldest(std::size_t count) {
  for (std::size_t b = 0; b < size_.batch; ++b) {
    const std::size_t dropped = std::min(count, lengths_[b]);
    for (std::size_t h = 0; h < size_.num_kv_heads; ++h) {
      Panels& keys = packed_.keys[b * size_.num_kv_heads + h];
      Panels& values = packed_.values[b * size_.num_kv_heads + h];
      for (std::size_t j = dropped; j < lengths_[b]; ++j) {
        for (std::size_t e = 0; e < size_.head_dim; ++e) {
          keys(j - dropped, e) = keys(j, e);
          values(e, j - dropped) = values(e, j);
        }
      }
    }
    lengths_[b] -= dropped;
  }
}

void KVCache::reset() {
  std::fill(lengths_.begin(), lengths_.end(), 0);
  std::fill(positions_.begin(), positions_.end(), 0);
}

void KVCache::rewind(Mark mark) {
  lengths_ = std::move(mark.lengths);
  positions_ = std::move(mark.positions);
}

void KVCache::grow(std::size_t capacity) {
  if (capacity < size_.capacity) {
    fail(ErrorCode::OPTION, "capacity = % is below the present %", {capacity, size_.capacity});
  }
  Size size = size_;
  size.capacity = capacity;
  PackedKeyValues larger = storage(size);
  for (std::size_t own = 0; own < larger.keys.size(); ++own) {
    for (std::size_t j = 0; j < lengths_[own / size_.num_kv_heads]; ++j) {
      for (std::size_t e = 0; e < size_.head_dim; ++e) {
        larger.keys[own](j, e) = packed_.keys[own](j, e);
        larger.values[own](e, j) = packed_.values[own](e, j);
      }
    }
  }
  packed_ = std::move(larger);
  size_ = size;
}

}  // namespace softlookup
