#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor.hpp"

namespace softlookup {

/// Which features of the rotated part turn together. A wrong guess gives plausible nonsense, hence
/// no default anywhere.
enum class RopeLayout {
  half,        // i and i + dims / 2 (Llama, Qwen, MiniMind)
  interleaved  // 2i and 2i + 1 (the paper, GPT-J)
};

/// YaRN (Peng et al. 2023, 3.2): slow pairs turn `factor` times slower, fast ones as before, with a
/// ramp between the pairs that turn beta_fast and beta_slow times within the original positions.
struct YarnScaling {
  double factor;                           // >= 1
  double original_max_positions;           // >= 1
  double beta_fast = 32;                   // turns, above beta_slow
  double beta_slow = 1;                    // turns, above 0
  std::optional<double> attention_factor;  // on cos and sin; default 0.1 ln(factor) + 1
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): no layout is ever a default
struct RopeOptions {
  RopeLayout layout;
  double theta = 10000;
  std::size_t dims = 0;  // leading features that are rotated, an even number; 0 = all
  std::optional<YarnScaling> scaling;
  bool inverse = false;  // turn back
};

/// Positions are whole numbers up to here; the angle of the largest is still good to 1e-6.
constexpr std::int64_t kLargestPosition = 2147483647;

/// Rotary position embedding (Su et al. 2021, RoFormer, 3.4.2): pair i of the token at position p
/// turns by the angle p * theta^(-2i / dims),
///   (a, b) -> (a cos - b sin, b cos + a sin).
/// x [B, H, L, D] -> the same shape; features from dims on are left alone. positions [L], the same
/// for every batch row, or [B * L], row by row. Angles are formed in double precision; position 0
/// hands the token through to the bit. Throws SHAPE, OPTION.
Tensor4 rope(const Tensor4& x, const RopeOptions& options,
             const std::vector<std::int64_t>& positions);

/// One token in place: pair i turns by the angle with cos[i] and sin[i]; two features a pair.
void turn_token(float* token, const std::vector<double>& cos, const std::vector<double>& sin,
                RopeLayout layout);

/// first, first + 1, ... : `length` positions. Throws OPTION when one is out of range.
std::vector<std::int64_t> running_positions(std::int64_t first, std::size_t length);

struct RopeTable {
  Tensor2 cos, sin;             // [n, dims / 2]
  Tensor1 inverse_frequencies;  // [dims / 2]: the angle at position 1
};

/// What rope multiplies with at n positions. Throws OPTION.
RopeTable rope_table(const std::vector<std::int64_t>& positions, std::size_t dims, double theta,
                     const std::optional<YarnScaling>& scaling);

}  // namespace softlookup
