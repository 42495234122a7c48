#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tensor.hpp"

namespace softlookup {

struct TraceStep {
  std::string id;
  std::string formula;
  NdArray tensor;
};

/// The passes of a computation in the order in which they ran. The computation hands its own
/// intermediates over; nothing is computed a second time to be shown.
class Trace {
 public:
  template <class Array>
  void record(std::string id, std::string formula, const Array& tensor) {
    steps_.push_back({std::move(id), std::move(formula), NdArray(tensor)});
  }

  /// Old name of a pass, and its name here.
  using Renames = std::vector<std::pair<std::string, std::string>>;

  /// The passes of a part, some under another name.
  void append(const Trace& part, const Renames& renames) {
    for (TraceStep step : part.steps_) {
      for (const auto& [from, to] : renames) {
        if (step.id == from) {
          step.id = to;
          break;
        }
      }
      steps_.push_back(std::move(step));
    }
  }

  [[nodiscard]] const std::vector<TraceStep>& steps() const { return steps_; }

 private:
  std::vector<TraceStep> steps_;
};

}  // namespace softlookup
