#include "layer_adapters.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "answer.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "half.hpp"
#include "heads.hpp"
#include "rms_norm.hpp"
#include "rope_convert.hpp"
#include "state_dict.hpp"

namespace softlookup::bindings {

void norm_rows(const Value& x, const Value& options) {
  Tensor1 weight;
  if (options.has("weight")) {
    const NdArray given = to_array(options.get("weight"), "weight");
    if (given.dimension() != 1 || given.size() == 0) {
      fail(given.dimension() != 1 ? ErrorCode::RANK : ErrorCode::SHAPE,
           "weight %, expected [D], the last axis of x", {given.shape()});
    }
    weight = elements(given, 0, given.size());
  }
  give_tensor(rms_norm(to_array(x, "x"), weight, to_double(options.get("eps"), kRmsNormEps, "eps"),
                       flag_in(options, "unitOffset", false)));
}

void repeat_heads(const Value& x, const Value& n) {
  give_tensor(repeat_kv(to_tensor<4>(x, "x", 3), to_size(n, "n")), 4 - rank_of(x));
}

void widen_halves(const Value& bytes, const Value& format) {
  std::vector<std::uint8_t> copy(bytes.size());
  bytes.copy_to(copy.data());
  const std::vector<float> values =
      widen(copy, format.is("BF16") ? HalfFormat::bfloat16 : HalfFormat::float16);
  give_array(values.data(), values.size());
}

}  // namespace softlookup::bindings
