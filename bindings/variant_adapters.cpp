#include "variant_adapters.hpp"

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "additive.hpp"
#include "answer.hpp"
#include "attention.hpp"
#include "attention_checks.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "linear_attention.hpp"
#include "rope_convert.hpp"
#include "state_dict.hpp"

namespace softlookup::bindings {

namespace {

NdArray to_parameter(const Value& options, const char* name, std::size_t rank) {
  const Value& tensor = options.get(name);
  if (tensor.is_undefined()) {
    fail(ErrorCode::OPTION, "% is missing", {name});
  }
  NdArray array = to_array(tensor, name);
  if (array.dimension() != rank) {
    fail(ErrorCode::RANK, "% %: expected %%",
         {name, array.shape(), rank, (rank == 1 ? " axis" : " axes")});
  }
  if (array.size() == 0) {
    fail(ErrorCode::SHAPE, "% % must not be empty", {name, array.shape()});
  }
  return array;
}

Tensor2 to_matrix(const Value& options, const char* name) {
  const NdArray array = to_parameter(options, name, 2);
  return matrix_rows(array, 0, array.shape(0));
}

Tensor1 to_vector(const Value& options, const char* name) {
  const NdArray array = to_parameter(options, name, 1);
  return elements(array, 0, array.size());
}

struct AdditiveCall {
  Tensor3 query, key, value;
  AdditiveParameters parameters;
  std::optional<Mask> mask;
  std::size_t rank;

  AdditiveCall(const Value& query_in, const Value& key_in, const Value& value_in,
               const Value& options)
      : rank(rank_of(query_in)) {
    require_additive_shapes(to_shape(query_in, "query"), to_shape(key_in, "key"),
                            to_shape(value_in, "value"));
    query = to_tensor<3>(query_in, "query", 2);
    key = to_tensor<3>(key_in, "key", 2);
    value = to_tensor<3>(value_in, "value", 2);
    parameters.w = to_matrix(options, "W");
    parameters.u = to_matrix(options, "U");
    parameters.v = to_vector(options, "v");
    if (options.has("b")) {
      parameters.b = to_vector(options, "b");
    }
    mask = optional_mask_in(options, "mask");
  }
};

/// [B, S], or [S] beside input without batch axis.
std::optional<NdBool> key_mask_in(const Value& options, bool batched) {
  std::optional<Mask> mask = optional_mask_in(options, "keyMask");
  if (!mask) {
    return std::nullopt;
  }
  if (!batched) {
    mask = with_batch_axis(*mask);
  }
  if (auto* keep = std::get_if<NdBool>(&*mask)) {
    return std::move(*keep);
  }
  fail(ErrorCode::DTYPE, "keyMask must be boolean: linear attention has no scores to add to");
}

}  // namespace

void attend_additive(const Value& query, const Value& key, const Value& value,
                     const Value& options) {
  const AdditiveCall call(query, key, value, options);
  const bool need_weights = flag_in(options, "needWeights", false);
  const AdditiveResult result =
      additive_attention(call.query, call.key, call.value, call.parameters, call.mask);
  give_tensor(result.output, 3 - call.rank);
  give_with_weights(need_weights, result.weights, 3 - call.rank);
}

void trace_additive(const Value& query, const Value& key, const Value& value,
                    const Value& options) {
  const AdditiveCall call(query, key, value, options);
  Trace trace;
  additive_attention(call.query, call.key, call.value, call.parameters, call.mask, &trace);
  give_trace(trace, 4 - call.rank);
}

void attend_linear(const Value& q, const Value& k, const Value& v, const Value& options) {
  require_attention_shapes(to_shape(q, "q"), to_shape(k, "k"), to_shape(v, "v"));
  const std::size_t rank = rank_of(q);
  const Tensor4 output =
      linear_attention(to_tensor<4>(q, "q", 2), to_tensor<4>(k, "k", 2), to_tensor<4>(v, "v", 2),
                       flag_in(options, "causal", false), key_mask_in(options, rank == 4),
                       to_double(options.get("eps"), 0, "eps"));
  give_tensor(output, 4 - rank);
  give_object("output");
}

}  // namespace softlookup::bindings
