#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <variant>
#include <vector>

#include "tensor.hpp"

namespace softlookup {

/// Boolean: non-zero = the pair takes part. Float: added to the scores, -Infinity = no part.
using Mask = std::variant<NdBool, NdArray>;

/// What `of` makes of the array that a mask holds. std::visit would carry the exception for a
/// variant that holds nothing, which none does.
template <class OneMask, class Of>
auto of_array(OneMask& mask, Of&& of) {
  if (auto* keep = std::get_if<NdBool>(&mask)) {
    return of(*keep);
  }
  return of(*std::get_if<NdArray>(&mask));
}

/// What a float mask adds to the score of a pair that takes no part.
inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

/// Where the diagonal lies. `square` wants L = S; the other two are named for L != S.
enum class Causal { none, square, top_left, bottom_right };

/// The same for what needs positions but is not causal: a window, ALiBi.
enum class Alignment { top_left, bottom_right };

/// Where padding lies in a sequence.
enum class PaddingSide { left, right };

/// [B, H, L, S]
using ScoreShape = std::array<std::size_t, 4>;

/// Everything that hides keys from queries or biases their scores. All of it applies at once.
///
/// Query i of batch row b stands at position p = i + offset of the keys: offset 0 for top left,
/// keys minus queries for bottom right, or query_offsets[b].
struct MaskSpec {
  std::vector<Mask> masks;  // each broadcasts to [B, H, L, S]
  Causal causal = Causal::none;
  std::size_t free_keys = 0;  // trailing keys that nothing hides

  std::optional<std::size_t> window_left;   // keys below p - window_left are hidden
  std::optional<std::size_t> window_right;  // keys above p + window_right are hidden
  std::vector<float> alibi_slopes;          // [H] or empty: -slope * |p - j| (Press et al. 2022)
  std::optional<Alignment> alignment;       // where causal does not name it

  std::vector<std::size_t> key_lengths;       // [B] or empty: the first so many keys are real
  std::vector<std::ptrdiff_t> query_offsets;  // [B] or empty
};

/// A MaskSpec resolved against the shape of its scores.
class MaskRule {
 public:
  /// `spec` has to outlive the rule. Throws MASK_SHAPE, MASK_VALUE, AMBIGUOUS_CAUSAL, SHAPE,
  /// OPTION.
  MaskRule(const MaskSpec& spec, const ScoreShape& shape);
  MaskRule(MaskSpec&& spec, const ScoreShape& shape);
  MaskRule(std::vector<Mask> masks, Causal causal, const ScoreShape& shape,
           std::size_t free_keys = 0);

  MaskRule(const MaskRule&) = delete;
  MaskRule& operator=(const MaskRule&) = delete;

  /// What to add to a score: -Infinity where key j is hidden from query i.
  [[nodiscard]] float bias(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const;

  [[nodiscard]] bool hides(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const;

  /// The keys that lengths, causal and window let query i reach: first <= j < last. All of them
  /// where some keys are free.
  struct Reach {
    std::size_t first, last;
  };
  [[nodiscard]] Reach reach(std::size_t b, std::size_t i) const;

  /// Whether there is more to a query's mask than its reach.
  [[nodiscard]] bool has_biases() const;

  /// The biases of keys first, first + 1, ... of query i, `step` floats apart.
  void biases(std::size_t b, std::size_t h, std::size_t i, std::size_t first, std::size_t count,
              float* out, std::size_t step) const;

 private:
  using Strides = std::array<std::size_t, 4>;  // 0 along a broadcast axis

  void resolve(const ScoreShape& shape);

  [[nodiscard]] Reach masked_reach(std::size_t b, std::size_t i) const;

  /// Where query 0 of batch row b stands.
  [[nodiscard]] std::ptrdiff_t offset(std::size_t b) const;

  /// The keys of batch row b that are real, of those that are not free.
  [[nodiscard]] std::size_t real_keys(std::size_t b) const;

  std::optional<MaskSpec> own_;  // a spec that nobody else keeps
  const MaskSpec* spec_;
  std::vector<Strides> strides_;  // one for each mask
  Alignment alignment_ = Alignment::top_left;
  std::size_t queries_ = 0;
  std::size_t masked_keys_ = 0;  // S without the free keys
};

Shape mask_shape(const Mask& mask);

/// Throws MASK_VALUE for NaN or +Infinity in an additive mask.
void require_valid_bias(const Mask& mask, const char* name = "mask");

/// scores [B, H, L, S] + bias. A hidden place becomes -Infinity whatever stood there, NaN
/// included; a score of -Infinity stays hidden.
void apply_mask(Tensor4& scores, const MaskRule& rule);

}  // namespace softlookup
