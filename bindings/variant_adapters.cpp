#include "variant_adapters.hpp"

#include <optional>
#include <string>
#include <variant>

#include "additive.hpp"
#include "attention.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "linear_attention.hpp"
#include "property.hpp"
#include "rope_convert.hpp"
#include "state_dict.hpp"

namespace softlookup::bindings {

namespace {

NdArray to_parameter(const val& options, const char* name, std::size_t rank) {
  const val tensor = get(options, name);
  if (tensor.isUndefined()) {
    throw Error(ErrorCode::OPTION, {name, " is missing"});
  }
  NdArray array = to_array(tensor, name);
  if (array.dimension() != rank) {
    throw Error(ErrorCode::RANK, {name, (" " + shape_text(shape_of(array))), ": expected ",
                                  std::to_string(rank), (rank == 1 ? " axis" : " axes")});
  }
  if (array.size() == 0) {
    throw Error(ErrorCode::SHAPE,
                {name, (" " + shape_text(shape_of(array))), " must not be empty"});
  }
  return array;
}

Tensor2 to_matrix(const val& options, const char* name) {
  const NdArray array = to_parameter(options, name, 2);
  return matrix_rows(array, 0, array.shape(0));
}

Tensor1 to_vector(const val& options, const char* name) {
  const NdArray array = to_parameter(options, name, 1);
  return elements(array, 0, array.size());
}

struct AdditiveCall {
  Tensor3 query, key, value;
  AdditiveParameters parameters;
  std::optional<Mask> mask;
  std::size_t rank;

  AdditiveCall(const val& query_in, const val& key_in, const val& value_in, const val& options)
      : rank(rank_of(query_in)) {
    require_additive_shapes(to_shape(query_in, "query"), to_shape(key_in, "key"),
                            to_shape(value_in, "value"));
    query = to_tensor<3>(query_in, "query", 2);
    key = to_tensor<3>(key_in, "key", 2);
    value = to_tensor<3>(value_in, "value", 2);
    parameters.w = to_matrix(options, "W");
    parameters.u = to_matrix(options, "U");
    parameters.v = to_vector(options, "v");
    if (has(options, "b")) {
      parameters.b = to_vector(options, "b");
    }
    mask = optional_mask_in(options, "mask");
  }
};

/// [B, S], or [S] beside input without batch axis.
std::optional<NdBool> to_key_mask(const val& mask_in, bool batched) {
  std::optional<Mask> mask = to_optional_mask(mask_in, "keyMask");
  if (!mask) {
    return std::nullopt;
  }
  if (!std::holds_alternative<NdBool>(*mask)) {
    throw Error(ErrorCode::DTYPE,
                {"keyMask must be boolean: linear attention has no scores to add to"});
  }
  return std::get<NdBool>(batched ? *mask : with_batch_axis(*mask));
}

}  // namespace

val attend_additive(const val& query, const val& key, const val& value, const val& options) {
  const AdditiveCall call(query, key, value, options);
  const bool need_weights = flag_in(options, "needWeights", false);
  const AdditiveResult result =
      additive_attention(call.query, call.key, call.value, call.parameters, call.mask);
  return attention_answer(from_array(result.output, 3 - call.rank), need_weights, result.weights,
                          3 - call.rank);
}

val trace_additive(const val& query, const val& key, const val& value, const val& options) {
  const AdditiveCall call(query, key, value, options);
  Trace trace;
  additive_attention(call.query, call.key, call.value, call.parameters, call.mask, &trace);
  return from_trace(trace, 4 - call.rank);
}

val attend_linear(const val& q, const val& k, const val& v, const val& options) {
  require_attention_shapes(to_shape(q, "q"), to_shape(k, "k"), to_shape(v, "v"));
  const std::size_t rank = rank_of(q);
  const Tensor4 output = linear_attention(
      to_tensor<4>(q, "q", 2), to_tensor<4>(k, "k", 2), to_tensor<4>(v, "v", 2),
      flag_in(options, "causal", false), to_key_mask(get(options, "keyMask"), rank == 4),
      to_double(get(options, "eps"), 0, "eps"));
  val answer = val::object();
  put(answer, "output", from_array(output, 4 - rank));
  return answer;
}

}  // namespace softlookup::bindings
