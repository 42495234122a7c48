#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flash.hpp"
#include "mask.hpp"
#include "tensor.hpp"

namespace softlookup {

/// Which of T new tokens are real: all, or the first (padding on the right) or last lengths[b] of
/// each batch row.
struct Chunk {
  std::vector<std::size_t> lengths;  // [B] or empty
  PaddingSide side = PaddingSide::right;

  [[nodiscard]] std::size_t real(std::size_t b, std::size_t tokens) const {
    return lengths.empty() ? tokens : lengths[b];
  }

  /// The first real token.
  [[nodiscard]] std::size_t first(std::size_t b, std::size_t tokens) const {
    return side == PaddingSide::left ? tokens - real(b, tokens) : 0;
  }

  /// Throws SHAPE, OPTION.
  void require_valid(std::size_t batch, std::size_t tokens) const;
};

/// Keys and values of the past, before heads are repeated. Each batch row has a length of its own;
/// slots past it were never written and are never read. A slot is no position: after dropping old
/// tokens the next one still comes at the position that it would have had.
class KVCache {
 public:
  struct Size {
    std::size_t batch, num_kv_heads, head_dim, capacity;
  };

  /// Throws OPTION for a size of 0 other than the capacity's.
  explicit KVCache(const Size& size);

  /// Appends the real tokens of k and v [B, Hkv, T, E]. Throws CACHE_FULL or SHAPE before anything
  /// is written.
  void append(const Tensor4& k, const Tensor4& v, const Chunk& chunk);

  /// Throws what append would, without writing.
  void require_room(const Tensor4& k, const Tensor4& v, const Chunk& chunk) const;

  /// What is held and then the chunk's real tokens: [B, Hkv, longest row, E], zeros past a row's
  /// length.
  [[nodiscard]] Tensor4 keys_with(const Tensor4& k, const Chunk& chunk) const;
  [[nodiscard]] Tensor4 values_with(const Tensor4& v, const Chunk& chunk) const;

  /// Keys of the longest row once the chunk has been appended.
  [[nodiscard]] std::size_t longest_with(std::size_t tokens, const Chunk& chunk) const;

  [[nodiscard]] const Size& size() const { return size_; }
  [[nodiscard]] const std::vector<std::size_t>& lengths() const { return lengths_; }

  /// Position of the next token of row b: how many it has ever been given.
  [[nodiscard]] std::int64_t next_position(std::size_t b) const { return positions_[b]; }

  /// Forgets the `count` oldest tokens of every row (all, where a row has fewer).
  void drop_oldest(std::size_t count);

  void reset();

  [[nodiscard]] const PackedKeyValues& packed() const { return packed_; }

  /// How far the cache is filled. Rewinding to it undoes what was appended since.
  struct Mark {
    std::vector<std::size_t> lengths;
    std::vector<std::int64_t> positions;
  };
  [[nodiscard]] Mark mark() const { return {lengths_, positions_}; }
  void rewind(Mark mark);

  /// Throws OPTION below the present capacity.
  void grow(std::size_t capacity);

 private:
  /// `held` gives the panels' element of a head's token and component.
  template <class Held>
  [[nodiscard]] Tensor4 extended(const Held& held, const Tensor4& added, const Chunk& chunk) const;

  Size size_;
  PackedKeyValues packed_;  // with room for `capacity` keys
  std::vector<std::size_t> lengths_;
  std::vector<std::int64_t> positions_;
};

}  // namespace softlookup
