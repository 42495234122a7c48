#include "rope_adapters.hpp"

#include "answer.hpp"
#include "convert.hpp"
#include "error.hpp"
#include "rope.hpp"
#include "rope_convert.hpp"

namespace softlookup::bindings {

namespace {

/// [n, dims / 2] -> the shape of the positions and [dims / 2]
void give_table(const Tensor2& table, Shape shape) {
  shape.push_back(table.shape(1));
  give_array(table.data(), table.size());
  give_sizes(shape.data(), shape.size());
  give_object("data shape");
}

}  // namespace

void rotate(const Value& x_in, const Value& options_in) {
  const Tensor4 x = to_tensor<4>(x_in, "x", 2);
  const RopeOptions options = to_rope_options(options_in);
  const auto positions = to_positions(options_in.get("positions"), x.shape(0), x.shape(2));
  give_tensor(rope(x, options, positions), 4 - rank_of(x_in));
}

void make_rope_table(const Value& options) {
  if (!options.has("positions") || options.get("positions").is_number()) {
    fail(ErrorCode::OPTION, "positions must be an array of whole numbers");
  }
  const PositionArray positions = to_position_array(options.get("positions"));
  const RopeTable table = rope_table(positions.values, size_in(options, "dims"),
                                     to_double(options.get("theta"), RopeOptions{}.theta, "theta"),
                                     to_scaling(options.get("scaling")));
  give_table(table.cos, positions.shape);
  give_table(table.sin, positions.shape);
  give_tensor(table.inverse_frequencies);
  give_object("cos sin inverseFrequencies");
}

}  // namespace softlookup::bindings
