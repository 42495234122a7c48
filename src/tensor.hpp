#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>

#include "error.hpp"

namespace softlookup {

// The dimensions, by the letters used everywhere:
//   B batch   H heads   L queries   S keys   D model dim
//   E head dim of query and key   Ev head dim of value
using Tensor1 = xt::xtensor<float, 1>;
using Tensor2 = xt::xtensor<float, 2>;
using Tensor3 = xt::xtensor<float, 3>;
using Tensor4 = xt::xtensor<float, 4>;

using Shape = std::vector<std::size_t>;

template <class Number>
using NdOf = xt::xarray_container<xt::uvector<Number>, xt::layout_type::row_major, Shape>;
using NdArray = NdOf<float>;
using NdBool = NdOf<std::uint8_t>;

template <class Array>
Shape shape_of(const Array& array) {
  return Shape(array.shape().begin(), array.shape().end());
}

/// A shape that somebody else keeps.
class ShapeView {
 public:
  using value_type = std::size_t;

  ShapeView(const Shape& shape) : sizes_(shape.data()), rank_(shape.size()) {}
  template <std::size_t N>
  ShapeView(const std::array<std::size_t, N>& shape) : sizes_(shape.data()), rank_(N) {}

  [[nodiscard]] std::size_t size() const { return rank_; }
  [[nodiscard]] const std::size_t* data() const { return sizes_; }
  std::size_t operator[](std::size_t axis) const { return sizes_[axis]; }

 private:
  const std::size_t* sizes_;
  std::size_t rank_;
};

/// Four axes of numbers that somebody else keeps. What lies side by side is the last axis.
template <class Number>
struct View4 {
  Number* data;
  std::array<std::size_t, 4> shape;
  std::array<std::size_t, 3> strides;  // of the others

  /// Row-major.
  View4(Number* data_in, const std::array<std::size_t, 4>& shape_in)
      : data(data_in),
        shape(shape_in),
        strides({shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3]}) {}
  View4(Number* data_in, const std::array<std::size_t, 4>& shape_in,
        const std::array<std::size_t, 3>& strides_in)
      : data(data_in), shape(shape_in), strides(strides_in) {}

  /// The last axis, at [b, h, i].
  [[nodiscard]] Number* row(std::size_t b, std::size_t h, std::size_t i) const {
    return data + b * strides[0] + h * strides[1] + i * strides[2];
  }
};

inline View4<const float> view_of(const Tensor4& tensor) { return {tensor.data(), tensor.shape()}; }
inline View4<float> view_of(Tensor4& tensor) { return {tensor.data(), tensor.shape()}; }

/// Throws OUT_OF_MEMORY for a shape that no pointer can span: in 32 bits its size would wrap
/// around.
void require_addressable(const ShapeView& shape, const char* what);

}  // namespace softlookup
