#include "layer_adapters.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "convert.hpp"
#include "error.hpp"
#include "half.hpp"
#include "heads.hpp"
#include "property.hpp"
#include "rms_norm.hpp"
#include "rope_convert.hpp"
#include "state_dict.hpp"

namespace softlookup::bindings {

val norm_rows(const val& x, const val& options) {
  Tensor1 weight;
  if (has(options, "weight")) {
    const NdArray given = to_array(get(options, "weight"), "weight");
    if (given.dimension() != 1 || given.size() == 0) {
      throw Error(given.dimension() != 1 ? ErrorCode::RANK : ErrorCode::SHAPE,
                  {"weight ", shape_text(shape_of(given)), ", expected [D], the last axis of x"});
    }
    weight = elements(given, 0, given.size());
  }
  return from_array(rms_norm(to_array(x, "x"), weight,
                             to_double(get(options, "eps"), kRmsNormEps, "eps"),
                             flag_in(options, "unitOffset", false)));
}

val repeat_heads(const val& x, const val& n) {
  return from_array(repeat_kv(to_tensor<4>(x, "x", 3), to_size(n, "n")), 4 - rank_of(x));
}

val widen_halves(const val& bytes, const val& format) {
  std::vector<std::uint8_t> copy(get(bytes, "length").as<std::size_t>());
  val(emscripten::typed_memory_view(copy.size(), copy.data())).call<void>("set", bytes);
  const auto name = format.as<std::string>();
  const std::vector<float> values =
      widen(copy, name == "BF16" ? HalfFormat::bfloat16 : HalfFormat::float16);
  return val::global("Float32Array")
      .new_(val(emscripten::typed_memory_view(values.size(), values.data())));
}

}  // namespace softlookup::bindings
