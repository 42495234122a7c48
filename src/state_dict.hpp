#pragma once

#include <map>
#include <set>
#include <string>

#include "linear.hpp"
#include "tensor.hpp"

namespace softlookup {

/// Parameters by name, under PyTorch's names.
using StateDict = std::map<std::string, NdArray>;

/// Hands parameters out by name, and knows in the end which were never asked for.
class StateReader {
 public:
  explicit StateReader(const StateDict& state) : state_(state) {}

  [[nodiscard]] bool has(const std::string& name) const { return state_.count(name) != 0; }

  /// Throws STATE_DICT when it is missing, SHAPE when it has another shape.
  const NdArray& take(const std::string& name, const Shape& shape);

  Tensor1 vector(const std::string& name, std::size_t size);
  Tensor2 matrix(const std::string& name, std::size_t rows, std::size_t columns);

  /// Throws STATE_DICT.
  void require_all_taken() const;

 private:
  const StateDict& state_;
  std::set<std::string> taken_;
};

/// Rows first ... first + count - 1 of a matrix.
Tensor2 matrix_rows(const NdArray& packed, std::size_t first, std::size_t count);

/// `count` elements from `first` on, whatever the shape.
Tensor1 elements(const NdArray& array, std::size_t first, std::size_t count);

}  // namespace softlookup
