#include <algorithm>

#include "catch.hpp"
#include "golden.hpp"
#include "grouped_query.hpp"
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

std::size_t whole(const GoldenCase& golden, const std::string& param) {
  return static_cast<std::size_t>(golden.number(param));
}

/// Tokens first ... first + count - 1 of [B, n, ...].
Numbers tokens_of(const Numbers& x, std::size_t first, std::size_t count) {
  Numbers part = x;
  part.data.clear();
  part.shape[1] = count;
  std::size_t width = 1;
  for (std::size_t axis = 2; axis < x.shape.size(); ++axis) {
    width *= x.shape[axis];
  }
  for (std::size_t b = 0; b < x.shape[0]; ++b) {
    const auto begin =
        x.data.begin() + static_cast<std::ptrdiff_t>((b * x.shape[1] + first) * width);
    part.data.insert(part.data.end(), begin, begin + static_cast<std::ptrdiff_t>(count * width));
  }
  return part;
}

GroupedQueryAttention module_of(const GoldenCase& golden) {
  GroupedQueryConfig config{};
  config.hidden_size = whole(golden, "hidden_size");
  config.num_heads = whole(golden, "num_attention_heads");
  config.num_kv_heads = whole(golden, "num_key_value_heads");
  config.head_dim = whole(golden, "head_dim");
  config.qk_norm_eps = golden.number("rms_norm_eps");
  config.rope = RopeOptions{RopeLayout::half, golden.number("rope_theta"), 0, std::nullopt, false};
  GroupedQueryAttention module(config);
  StateDict state;
  for (const auto& [name, array] : golden.inputs) {
    if (name.find(".weight") != std::string::npos) {
      state.emplace(
          name, nd_array(array.values.shape, {array.values.data.begin(), array.values.data.end()}));
    }
  }
  module.load(state);
  return module;
}

/// Passes of the trace under the file's names.
std::string file_name(const std::string& id) {
  return id == "past_k" ? "present_k" : id == "past_v" ? "present_v" : id;
}

/// Step by step through a cache, as the file was made.
void run_forward(const GoldenCase& golden, GoldenCheck& check) {
  const GroupedQueryAttention module = module_of(golden);
  const Numbers& x = golden.input("x");
  const std::vector<double>& steps = golden.params.at("steps");
  const KVCache empty(
      {x.shape[0], module.config().num_kv_heads, module.config().head_dim, x.shape[1]});
  KVCache cache = empty;
  KVCache fast_cache = empty;
  std::size_t first = 0;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const auto count = static_cast<std::size_t>(steps[t]);
    GroupedQueryOptions options;
    options.cache = &cache;
    options.causal = golden.flag("is_causal");
    if (golden.number("start_pos") != 0) {
      options.positions =
          running_positions(static_cast<std::int64_t>(golden.number("start_pos")), count);
    }
    if (golden.has_input("attention_mask")) {
      Numbers padding = tokens_of(golden.input("attention_mask"), 0, first + count);
      for (double& value : padding.data) {
        value = (1 - value) * -1e9;
      }
      options.key_mask = nd_array(padding.shape, {padding.data.begin(), padding.data.end()});
    }
    Trace trace;
    const auto result = module.forward(tensor3(tokens_of(x, first, count)), options, &trace);
    const std::string prefix = steps.size() > 1 ? "step" + std::to_string(t) + "." : "";
    std::size_t compared = 0;
    for (const TraceStep& step : trace.steps()) {
      const std::string name = prefix + file_name(step.id);
      if (golden.outputs.count(name) != 0) {
        check(name, numbers(step.tensor));
        ++compared;
      }
    }
    CHECK(compared >= 4);
    CHECK(other_bits(result.output, Tensor3(trace.steps().back().tensor)) == "");
    options.cache = &fast_cache;
    options.branch = Branch::fast;
    check(prefix + "output",
          numbers(module.forward(tensor3(tokens_of(x, first, count)), options).output));
    first += count;
  }
  if (golden.outputs.count("cos") != 0) {
    const RopeTable table = table_of(golden);
    check("cos", doubled(table.cos));
    check("sin", doubled(table.sin));
  }
}

}  // namespace

TEST_CASE("golden: MiniMind", "[slow]") {
  run_golden("minimind", 19, [](const GoldenCase& golden, GoldenCheck& check) {
    if (golden.name == "yarn_hd96") {
      run_yarn(golden, check);
    } else {
      run_forward(golden, check);
    }
  });
}

TEST_CASE("golden: MiniMind's rotary tables", "[slow]") {
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
