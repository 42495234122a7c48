#include "catch.hpp"
#include "golden.hpp"
#include "rms_norm.hpp"
#include "rope.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

std::vector<std::int64_t> positions_of(const GoldenCase& golden) {
  const Numbers& positions = golden.input("positions");
  return {positions.data.begin(), positions.data.end()};
}

Numbers table_of(const Tensor2& table, const std::vector<std::size_t>& positions) {
  std::vector<std::size_t> shape = positions;
  shape.push_back(table.shape(1));
  return reshaped(numbers(table), shape);
}

void run_rms_norm(const GoldenCase& golden, GoldenCheck& check) {
  Tensor1 weight;
  if (golden.flag("weight")) {
    weight = Tensor1(nd_array(golden.input("weight").shape, {golden.input("weight").data.begin(),
                                                             golden.input("weight").data.end()}));
  }
  const Numbers& x = golden.input("x");
  const bool unit_offset = golden.flag("unit_offset");
  check("y", numbers(rms_norm(nd_array(x.shape, {x.data.begin(), x.data.end()}), weight,
                              golden.number("eps"), unit_offset)));
  if (x.shape.size() == 4) {
    check("y", numbers(rms_norm(tensor4(x), weight, golden.number("eps"), unit_offset)));
  }
}

void run_rope(const GoldenCase& golden, GoldenCheck& check) {
  const bool half = golden.name.rfind("half_", 0) == 0;
  REQUIRE((half || golden.name.rfind("inter_", 0) == 0));
  RopeOptions options{};
  options.layout = half ? RopeLayout::half : RopeLayout::interleaved;
  options.theta = golden.number("theta");
  options.dims = static_cast<std::size_t>(golden.number("rotary_dim"));
  options.inverse = golden.flag("inverse");
  const auto positions = positions_of(golden);
  const Tensor4 x = tensor4(golden.input("x"));
  check("y", numbers(rope(x, options, positions)));
  if (golden.has_param("start")) {
    check("y", numbers(rope(x, options,
                            running_positions(static_cast<std::int64_t>(golden.number("start")),
                                              x.shape(2)))));
  }
  RopeTable table = rope_table(positions, options.dims, options.theta, std::nullopt);
  if (options.inverse) {
    for (float& sin : table.sin) {
      sin = -sin;  // the file has what was multiplied with
    }
  }
  check("cos", table_of(table.cos, golden.input("positions").shape));
  check("sin", table_of(table.sin, golden.input("positions").shape));
}

}  // namespace

TEST_CASE("golden: rotary embedding and RMSNorm") {
  run_golden("rope", 20, [](const GoldenCase& golden, GoldenCheck& check) {
    golden.name.rfind("rms_", 0) == 0 ? run_rms_norm(golden, check) : run_rope(golden, check);
  });
}
