#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mask.hpp"
#include "support.hpp"

/// One case of a golden file; tests/golden/README.md describes the format.
struct GoldenArray {
  std::string dtype;
  Numbers values;
};

struct GoldenCase {
  std::string family, name;
  Tolerance tolerance;
  std::map<std::string, std::vector<double>> params;  // numbers, flags, lists; "a.b" inside a
  std::map<std::string, GoldenArray> inputs;
  std::map<std::string, GoldenArray> outputs;

  [[nodiscard]] double number(const std::string& param) const { return params.at(param).at(0); }
  [[nodiscard]] bool flag(const std::string& param) const { return number(param) != 0; }
  [[nodiscard]] bool has_param(const std::string& name_) const { return params.count(name_) != 0; }
  [[nodiscard]] bool has_input(const std::string& name_) const { return inputs.count(name_) != 0; }
  [[nodiscard]] const Numbers& input(const std::string& name_) const {
    return inputs.at(name_).values;
  }
  [[nodiscard]] const Numbers& output(const std::string& name_) const {
    return outputs.at(name_).values;
  }
  /// A boolean input, or a float one, as it stands.
  [[nodiscard]] softlookup::Mask mask(const std::string& input_name) const;
};

/// Compares outputs of one case, and knows in the end which were left out.
class GoldenCheck {
 public:
  explicit GoldenCheck(const GoldenCase& golden) : golden_(golden) {}

  void operator()(const std::string& output, const Numbers& got);
  /// An output that describes what others do wrong.
  void not_ours(const std::string& output) { compared_.insert(output); }
  void require_all_compared() const;

 private:
  const GoldenCase& golden_;
  std::set<std::string> compared_;
};

/// Family -> name -> reason, from not_yet_covered.json.
const std::map<std::string, std::map<std::string, std::string>>& not_yet_covered();

/// The families that a test runs.
inline const std::set<std::string> kGoldenTests = {
    "course",   "sdpa",     "causal_bottom_right", "mha", "rope",
    "variants", "minimind", "onnx_attention"};

/// The families whose file lies in tests/golden/.
std::set<std::string> golden_families();
std::vector<GoldenCase> read_golden(const std::string& family);

/// Runs every case of the family that is not listed as not yet covered, and prints how many.
void run_golden(const std::string& family, std::size_t expected_cases,
                const std::function<void(const GoldenCase&, GoldenCheck&)>& run);
