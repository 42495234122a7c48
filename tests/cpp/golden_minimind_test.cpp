#include <algorithm>

#include "catch.hpp"
#include "golden.hpp"
#include "rope.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

/// [n, dims / 2] -> [n, dims]: the file has each table twice, side by side.
Numbers doubled(const Tensor2& table) {
  Numbers twice{{table.shape(0), 2 * table.shape(1)}, {}};
  for (std::size_t n = 0; n < table.shape(0); ++n) {
    for (std::size_t i = 0; i < twice.shape[1]; ++i) {
      twice.data.push_back(static_cast<double>(table(n, i % table.shape(1))));
    }
  }
  return twice;
}

RopeTable table_of(const GoldenCase& golden) {
  std::vector<std::int64_t> positions;
  std::optional<YarnScaling> scaling;
  if (golden.has_input("positions")) {
    const Numbers& given = golden.input("positions");
    positions.assign(given.data.begin(), given.data.end());
    scaling = YarnScaling{
        golden.number("factor"), golden.number("original_max_position_embeddings"),
        golden.number("beta_fast"), golden.number("beta_slow"), golden.number("attention_factor")};
  } else {
    positions = running_positions(static_cast<std::int64_t>(golden.number("start_pos")),
                                  golden.output("cos").shape[0]);
  }
  return rope_table(positions, static_cast<std::size_t>(golden.number("head_dim")),
                    golden.number("rope_theta"), scaling);
}

void run_yarn(const GoldenCase& golden, GoldenCheck& check) {
  const RopeTable table = table_of(golden);
  check("inv_freq", numbers(table.inverse_frequencies));
  check("cos", doubled(table.cos));
  check("sin", doubled(table.sin));
  // The file's tolerance leaves room for angles in float32; these are not.
  CHECK(mismatch(numbers(table.inverse_frequencies), golden.output("inv_freq"), {0, 1e-6}) == "");
}

}  // namespace

TEST_CASE("golden: MiniMind") {
  run_golden("minimind", 19, [](const GoldenCase& golden, GoldenCheck& check) {
    if (golden.name == "yarn_hd96") {
      run_yarn(golden, check);
    } else {
      FAIL_CHECK("no test for this case; write it, or list it in not_yet_covered.json");
    }
  });
}

TEST_CASE("golden: MiniMind's rotary tables") {
  std::size_t tables = 0;
  for (const GoldenCase& golden : read_golden("minimind")) {
    if (golden.outputs.count("cos") != 0) {
      INFO(golden.name);
      const RopeTable table = table_of(golden);
      CHECK(mismatch(doubled(table.cos), golden.output("cos"), {1e-6, 0}) == "");
      CHECK(mismatch(doubled(table.sin), golden.output("sin"), {1e-6, 0}) == "");
      ++tables;
    }
  }
  CHECK(tables == 17);
}
