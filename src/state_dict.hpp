#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "linear.hpp"
#include "tensor.hpp"

namespace softlookup {

/// Parameters by name, under PyTorch's names.
using StateDict = std::map<std::string, NdArray>;

/// Hands parameters out by name, and knows in the end which were never asked for.
class StateReader {
 public:
  explicit StateReader(const StateDict& state) : state_(state) {}

  [[nodiscard]] bool has(const char* name) const { return state_.count(name) != 0; }

  /// Throws STATE_DICT when it is missing, SHAPE when it has another shape.
  const NdArray& take(const char* name, std::initializer_list<std::size_t> sizes);

  Tensor1 vector(const char* name, std::size_t size);
  Tensor2 matrix(const char* name, std::size_t rows, std::size_t columns);

  /// Throws STATE_DICT.
  void require_all_taken() const;

 private:
  const StateDict& state_;
  std::vector<const NdArray*> taken_;
};

/// Rows first ... first + count - 1 of a matrix.
Tensor2 matrix_rows(const NdArray& packed, std::size_t first, std::size_t count);

/// `count` elements from `first` on, whatever the shape.
Tensor1 elements(const NdArray& array, std::size_t first, std::size_t count);

}  // namespace softlookup
