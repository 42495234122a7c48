#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "attention.hpp"
#include "linear.hpp"
#include "mask.hpp"
#include "state_dict.hpp"
#include "tensor.hpp"
#include "trace.hpp"

namespace softlookup {

struct MultiHeadConfig {
  std::size_t embed_dim;  // D
  std::size_t num_heads;  // H, divides D
  std::size_t kdim;       // width of key
  std::size_t vdim;       // width of value
  bool bias;
  bool add_bias_kv;    // one learned key and value after the last
  bool add_zero_attn;  // one key and value of zeros after the last
};

struct MultiHeadOptions {
  std::vector<Mask> masks;       // each broadcasts to [B, H, L, S]
  std::optional<Mask> key_mask;  // [B, S]
  Causal causal = Causal::none;
  Branch branch = Branch::plain;
};

/// Multi-head attention (Vaswani et al. 2017, 3.2.2): three projections, H heads side by side, one
/// output projection. Equal to torch.nn.MultiheadAttention in eval mode.
class MultiHeadAttention {
 public:
  /// Throws HEADS, OPTION.
  explicit MultiHeadAttention(const MultiHeadConfig& config);

  /// Takes every parameter, packed (in_proj_weight) or apart (q_proj_weight, ...). Nothing changes
  /// when it throws STATE_DICT or SHAPE.
  void load(const StateDict& state);

  /// Shapes as a caller gives them, with or without batch axis. Throws RANK, SHAPE.
  void require_shapes(const Shape& query, const Shape& key, const Shape& value) const;

  /// query [B, L, D], key [B, S, kdim], value [B, S, vdim] -> output [B, L, D] and weights
  /// [B, H, L, S + added keys], none on the fast branch. A trace is of the plain one. Throws SHAPE,
  /// MASK_SHAPE, MASK_VALUE, AMBIGUOUS_CAUSAL, STATE_DICT.
  struct Result {
    Tensor3 output;
    Tensor4 weights;
  };
  [[nodiscard]] Result forward(const Tensor3& query, const Tensor3& key, const Tensor3& value,
                               const MultiHeadOptions& options, Trace* trace = nullptr) const;

  /// The same as the formula is written, with 3H small matrices and one head after the other: slow,
  /// and an oracle for forward.
  [[nodiscard]] Result forward_head_by_head(const Tensor3& query, const Tensor3& key,
                                            const Tensor3& value,
                                            const MultiHeadOptions& options) const;

  /// Independent of the number of heads.
  [[nodiscard]] double parameter_count() const;

 private:
  struct Parameters {
    Projection query, key, value, output;
    Tensor1 bias_k, bias_v;  // [D] or empty
  };

  [[nodiscard]] std::size_t added_keys() const;
  [[nodiscard]] AttentionOptions visibility(const Tensor3& key,
                                            const MultiHeadOptions& options) const;
  [[nodiscard]] Tensor3 append_keys(const Tensor3& projected, const Tensor1& learned) const;

  MultiHeadConfig config_;
  std::optional<Parameters> parameters_;
};

/// [B, H, L, S] -> [B, L, S]
Tensor3 average_heads(const Tensor4& weights);

}  // namespace softlookup
