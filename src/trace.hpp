#pragma once

#include <initializer_list>
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
  void record(const char* id, const char* formula, const Array& tensor) {
    add(id, formula, NdArray(tensor));
  }

  /// Old name of a pass, and its name here.
  using Renames = std::initializer_list<std::pair<const char*, const char*>>;

  /// The passes of a part, some under another name.
  void append(const Trace& part, Renames renames) {
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
  // Called at every pass: inlined, it would be much of the binary.
  [[gnu::noinline]] void add(const char* id, const char* formula, NdArray tensor) {
    steps_.push_back({id, formula, std::move(tensor)});
  }

  std::vector<TraceStep> steps_;
};

}  // namespace softlookup
