#include "rope_adapters.hpp"

#include "convert.hpp"
#include "error.hpp"
#include "property.hpp"
#include "rope.hpp"
#include "rope_convert.hpp"

namespace softlookup::bindings {

namespace {

/// [n, dims / 2] -> the shape of the positions and [dims / 2]
val table_of(const Tensor2& table, Shape shape) {
  NdArray array = table;
  shape.push_back(table.shape(1));
  array.reshape(shape);
  return from_array(array);
}

}  // namespace

val rotate(const val& x_in, const val& options_in) {
  const Tensor4 x = to_tensor<4>(x_in, "x", 2);
  const RopeOptions options = to_rope_options(options_in);
  const auto positions = to_positions(get(options_in, "positions"), x.shape(0), x.shape(2));
  return from_array(rope(x, options, positions), 4 - rank_of(x_in));
}

val make_rope_table(const val& options) {
  if (!has(options, "positions") || get(options, "positions").isNumber()) {
    throw Error(ErrorCode::OPTION, {"positions must be an array of whole numbers"});
  }
  const PositionArray positions = to_position_array(get(options, "positions"));
  const RopeTable table = rope_table(positions.values, size_in(options, "dims"),
                                     to_double(get(options, "theta"), RopeOptions{}.theta, "theta"),
                                     to_scaling(get(options, "scaling")));
  val answer = val::object();
  put(answer, "cos", table_of(table.cos, positions.shape));
  put(answer, "sin", table_of(table.sin, positions.shape));
  put(answer, "inverseFrequencies", from_array(table.inverse_frequencies));
  return answer;
}

}  // namespace softlookup::bindings
