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

  /// The passes of a part; its last one goes by `last_id` here.
  void append(const Trace& part, const std::string& last_id) {
    steps_.insert(steps_.end(), part.steps_.begin(), part.steps_.end());
    steps_.back().id = last_id;
  }

  [[nodiscard]] const std::vector<TraceStep>& steps() const { return steps_; }

 private:
  std::vector<TraceStep> steps_;
};

}  // namespace softlookup
