#include "state_dict.hpp"

#include <algorithm>

#include "error.hpp"

namespace softlookup {

const NdArray& StateReader::take(const char* name, std::initializer_list<std::size_t> sizes) {
  const Shape shape = sizes;
  const auto found = state_.find(name);
  if (found == state_.end()) {
    fail(ErrorCode::STATE_DICT, "state dict: % % is missing", {name, shape});
  }
  const NdArray& array = found->second;
  if (shape_of(array) != shape) {
    fail(ErrorCode::SHAPE, "state dict: % is %, expected %", {name, array.shape(), shape});
  }
  taken_.push_back(&array);
  return array;
}

Tensor1 StateReader::vector(const char* name, std::size_t size) {
  return elements(take(name, {size}), 0, size);
}

Tensor2 StateReader::matrix(const char* name, std::size_t rows, std::size_t columns) {
  return matrix_rows(take(name, {rows, columns}), 0, rows);
}

void StateReader::require_all_taken() const {
  for (const auto& [name, array] : state_) {
    if (std::find(taken_.begin(), taken_.end(), &array) == taken_.end()) {
      fail(ErrorCode::STATE_DICT, "state dict: % % does not belong to this configuration",
           {name, array.shape()});
    }
  }
}

Tensor2 matrix_rows(const NdArray& packed, std::size_t first, std::size_t count) {
  const std::size_t width = packed.shape(1);
  Tensor2 rows = Tensor2::from_shape({count, width});
  std::copy_n(packed.data() + first * width, count * width, rows.data());
  return rows;
}

Tensor1 elements(const NdArray& array, std::size_t first, std::size_t count) {
  Tensor1 part = Tensor1::from_shape({count});
  std::copy_n(array.data() + first, count, part.data());
  return part;
}

}  // namespace softlookup
