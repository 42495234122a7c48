#pragma once

namespace softlookup {

// Counts as doubles: whole numbers, exact below 2^53.

/// Trainable numbers of one attention layer (the course, 4 and 5).
struct AttentionParameters {
  double query, key, value, output;
  double norms;  // q-norm and k-norm weights
  double total;
};
struct LayerSize {
  double model_dim, num_heads, num_kv_heads, head_dim;
  bool bias;
  bool qk_norm;
};
/// Throws HEADS when the key/value heads do not divide the query heads.
AttentionParameters attention_parameters(const LayerSize& layer);

/// model_dim / num_heads. Throws HEADS when that is no whole number.
double head_dim_of(const LayerSize& layer);

/// Elements of the materialised [B, H, n, n] matrix.
double score_elements(double length, double num_heads, double batch);

/// Keys and values of every layer of a cache.
double kv_cache_elements(double length, double layers, double num_kv_heads, double head_dim,
                         double batch);

/// Operations on one sequence of n tokens; a multiply and an add count as 2, softmax is left out.
struct Operations {
  double qkv_projection;     // 3 * 2 n D^2
  double output_projection;  // 2 n D^2
  double scores;             // 2 n^2 D
  double weighted_sum;       // 2 n^2 D
  double attention;          // scores + weighted_sum
  double total;
  double attention_share;  // attention / total
};
Operations sequence_operations(double length, double model_dim);

/// Operations for one new token against a cache that then holds `length` keys.
struct DecodeOperations {
  double projection, attention, total;
};
DecodeOperations decode_operations(double length, double model_dim);

}  // namespace softlookup
