#include "cost.hpp"

#include <string>

#include "error.hpp"

namespace softlookup {

namespace {

std::size_t whole(double count) { return static_cast<std::size_t>(count); }

bool divides(double divisor, double number) {
  return divisor > 0 && whole(number) % whole(divisor) == 0;
}

}  // namespace

double head_dim_of(const LayerSize& layer) {
  if (!divides(layer.num_heads, layer.model_dim)) {
    fail(ErrorCode::HEADS, "numHeads = % does not divide modelDim = %",
         {whole(layer.num_heads), whole(layer.model_dim)});
  }
  return layer.model_dim / layer.num_heads;
}

AttentionParameters attention_parameters(const LayerSize& layer) {
  if (!divides(layer.num_kv_heads, layer.num_heads)) {
    fail(ErrorCode::HEADS, "numKvHeads = % does not divide numHeads = %",
         {whole(layer.num_kv_heads), whole(layer.num_heads)});
  }
  const double query_dim = layer.num_heads * layer.head_dim;
  const double kv_dim = layer.num_kv_heads * layer.head_dim;
  const double with_bias = layer.bias ? 1 : 0;
  AttentionParameters count{};
  count.query = (layer.model_dim + with_bias) * query_dim;
  count.key = (layer.model_dim + with_bias) * kv_dim;
  count.value = count.key;
  count.output = (query_dim + with_bias) * layer.model_dim;
  count.norms = layer.qk_norm ? 2 * layer.head_dim : 0;
  count.total = count.query + count.key + count.value + count.output + count.norms;
  return count;
}

double score_elements(double length, double num_heads, double batch) {
  return batch * num_heads * length * length;
}

double kv_cache_elements(double length, double layers, double num_kv_heads, double head_dim,
                         double batch) {
  return 2 * layers * batch * num_kv_heads * length * head_dim;
}

Operations sequence_operations(double length, double model_dim) {
  Operations count{};
  count.output_projection = 2 * length * model_dim * model_dim;
  count.qkv_projection = 3 * count.output_projection;
  count.scores = 2 * length * length * model_dim;
  count.weighted_sum = count.scores;
  count.attention = count.scores + count.weighted_sum;
  count.total = count.qkv_projection + count.output_projection + count.attention;
  count.attention_share = count.attention / count.total;
  return count;
}

DecodeOperations decode_operations(double length, double model_dim) {
  const double projection = 4 * 2 * model_dim * model_dim;
  const double attention = 2 * 2 * length * model_dim;
  return {projection, attention, projection + attention};
}

}  // namespace softlookup
