#include "support.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <variant>

using softlookup::Causal;
using softlookup::Mask;
using softlookup::NdArray;
using softlookup::NdBool;
using softlookup::Shape;
using softlookup::Tensor3;
using softlookup::Tensor4;

namespace {

std::size_t size_of(const Shape& shape) {
  std::size_t size = 1;
  for (const std::size_t n : shape) {
    size *= n;
  }
  return size;
}

template <std::size_t Rank, class Value>
xt::xtensor<float, Rank> to_tensor(const Shape& shape, const std::vector<Value>& data) {
  std::array<std::size_t, Rank> full;
  full.fill(1);
  if (shape.size() > Rank || size_of(shape) != data.size()) {
    throw std::logic_error("test data: shape and size differ");
  }
  std::copy(shape.begin(), shape.end(), full.end() - static_cast<std::ptrdiff_t>(shape.size()));
  auto tensor = xt::xtensor<float, Rank>::from_shape(full);
  std::transform(data.begin(), data.end(), tensor.begin(),
                 [](Value value) { return static_cast<float>(value); });
  return tensor;
}

template <class Array, class Value>
Array to_array(const Shape& shape, const std::vector<Value>& data) {
  if (size_of(shape) != data.size()) {
    throw std::logic_error("test data: shape and size differ");
  }
  Array array = Array::from_shape(shape);
  std::copy(data.begin(), data.end(), array.begin());
  return array;
}

Shape without_leading_ones(const Shape& shape) {
  return {std::find_if(shape.begin(), shape.end(), [](std::size_t n) { return n != 1; }),
          shape.end()};
}

std::string position_text(const Shape& shape, std::size_t offset) {
  Shape position(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = offset % shape[axis];
    offset /= shape[axis];
  }
  return shape_text(position);
}

}  // namespace

Numbers list(std::initializer_list<double> data) { return {{data.size()}, data}; }

Numbers reshaped(Numbers x, const Shape& shape) {
  if (size_of(shape) != x.data.size()) {
    throw std::logic_error("test data: not the same size");
  }
  x.shape = shape;
  return x;
}

Numbers first_axes_swapped(const Numbers& x) {
  Numbers swapped = x;
  std::swap(swapped.shape[0], swapped.shape[1]);
  const std::size_t first = x.shape[0], second = x.shape[1];
  const std::size_t inner = x.data.size() / (first * second);
  for (std::size_t a = 0; a < first; ++a) {
    for (std::size_t b = 0; b < second; ++b) {
      for (std::size_t e = 0; e < inner; ++e) {
        swapped.data[(b * first + a) * inner + e] = x.data[(a * second + b) * inner + e];
      }
    }
  }
  return swapped;
}

Tensor4 tensor4(const Numbers& x) { return to_tensor<4>(x.shape, x.data); }
Tensor3 tensor3(const Numbers& x) { return to_tensor<3>(x.shape, x.data); }
Tensor4 tensor4(const Shape& shape, const std::vector<float>& data) {
  return to_tensor<4>(shape, data);
}
Tensor3 tensor3(const Shape& shape, const std::vector<float>& data) {
  return to_tensor<3>(shape, data);
}
softlookup::Tensor2 tensor2(const Shape& shape, const std::vector<float>& data) {
  return to_tensor<2>(shape, data);
}
NdArray nd_array(const Shape& shape, const std::vector<float>& data) {
  return to_array<NdArray>(shape, data);
}
NdBool keep(const Shape& shape, const std::vector<std::uint8_t>& data) {
  return to_array<NdBool>(shape, data);
}
NdArray bias(const Shape& shape, const std::vector<float>& data) { return nd_array(shape, data); }

Tensor4 tokens(const std::vector<float>& data) {
  return to_tensor<4>(Shape{1, 1, data.size(), 1}, data);
}

Tensor4 zero_tokens(std::size_t count) { return tokens(std::vector<float>(count, 0.0F)); }

std::string mismatch(const Numbers& got, const Numbers& want, Tolerance tolerance) {
  if (without_leading_ones(got.shape) != without_leading_ones(want.shape)) {
    return "shape " + shape_text(got.shape) + " instead of " + shape_text(want.shape);
  }
  if (got.data.size() != want.data.size()) {
    return "another number of elements";
  }
  for (std::size_t n = 0; n < want.data.size(); ++n) {
    const double g = got.data[n], w = want.data[n];
    const bool special = !std::isfinite(g) || !std::isfinite(w);
    const bool equal =
        std::isnan(w) ? std::isnan(g)
        : special     ? g == w
                      : std::abs(g - w) <= tolerance.absolute + tolerance.relative * std::abs(w);
    if (!equal) {
      std::ostringstream text;
      text.precision(10);
      text << position_text(want.shape, n) << ": " << g << " instead of " << w;
      return text.str();
    }
  }
  return "";
}

std::string other_bits(const float* got, const float* want, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) {
    if (std::memcmp(got + n, want + n, sizeof(float)) != 0) {
      std::ostringstream text;
      text.precision(10);
      text << "element " << n << ": " << got[n] << " instead of " << want[n];
      return text.str();
    }
  }
  return "";
}

std::string refusal(softlookup::ErrorCode code, const std::vector<std::string>& fragments,
                    const std::function<void()>& call) {
  const std::string wanted = softlookup::code_name(code);
  try {
    call();
    return "nothing thrown instead of " + wanted;
  } catch (const softlookup::Error& error) {
    if (error.code() != code) {
      return softlookup::code_name(error.code()) + (" instead of " + wanted) + ": " + error.what();
    }
    for (const std::string& fragment : fragments) {
      if (std::string(error.what()).find(fragment) == std::string::npos) {
        return "\"" + fragment + "\" is not in: " + error.what();
      }
    }
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  const Numbers after = mean_of_visible(2, {1, 3}, {{}, Causal::square});
  return mismatch(after, list({1, 2}), kExact).empty() ? "" : "the next call is wrong";
}

softlookup::AttentionOptions with(std::vector<Mask> masks, Causal causal) {
  softlookup::AttentionOptions options;
  options.masks = std::move(masks);
  options.causal = causal;
  return options;
}

Numbers mean_of_visible(std::size_t queries, const std::vector<float>& v, const Options& options) {
  const Numbers output =
      numbers(softlookup::attention(zero_tokens(queries), zero_tokens(v.size()), tokens(v),
                                    with(options.masks, options.causal))
                  .output);
  return reshaped(output, {queries});
}

double RandomInput::uniform() {
  return static_cast<double>(static_cast<std::uint32_t>(engine_())) / 4294967296.0;
}

double RandomInput::normal() {
  double sum = -6;
  for (int n = 0; n < 12; ++n) {
    sum += uniform();
  }
  return sum;
}

std::size_t RandomInput::between(std::size_t low, std::size_t high) {
  return low + static_cast<std::size_t>(uniform() * static_cast<double>(high - low + 1));
}

std::vector<float> RandomInput::floats(const Shape& shape) {
  std::vector<float> data(size_of(shape));
  std::generate(data.begin(), data.end(), [this] { return static_cast<float>(normal()); });
  return data;
}

Tensor3 RandomInput::tensor3(const Shape& shape) { return ::tensor3(shape, floats(shape)); }
Tensor4 RandomInput::tensor4(const Shape& shape) { return ::tensor4(shape, floats(shape)); }
NdArray RandomInput::nd_array(const Shape& shape) { return ::nd_array(shape, floats(shape)); }

NdBool RandomInput::keep(const Shape& shape, double visible) {
  std::vector<std::uint8_t> data(size_of(shape));
  std::generate(data.begin(), data.end(),
                [&] { return static_cast<std::uint8_t>(chance(visible) ? 1 : 0); });
  return ::keep(shape, data);
}

NdArray RandomInput::bias(const Shape& shape, double visible) {
  std::vector<float> data = floats(shape);
  for (float& value : data) {
    value = chance(visible) ? value : -kInf;
  }
  return ::nd_array(shape, data);
}

oracle::Bias oracle_bias(const std::vector<Mask>& masks, Causal causal, std::size_t queries,
                         std::size_t keys) {
  std::vector<Numbers> additive;
  for (const Mask& mask : masks) {
    const bool boolean = std::holds_alternative<NdBool>(mask);
    Numbers one = std::visit([](const auto& array) { return numbers(array); }, mask);
    if (boolean) {
      for (double& value : one.data) {
        value = value != 0 ? 0 : -std::numeric_limits<double>::infinity();
      }
    }
    additive.push_back(std::move(one));
  }
  return [=](std::size_t b, std::size_t h, std::size_t i, std::size_t j) -> double {
    const auto row = static_cast<double>(i), column = static_cast<double>(j);
    const double shift = causal == Causal::bottom_right
                             ? static_cast<double>(keys) - static_cast<double>(queries)
                             : 0;
    double sum = causal != Causal::none && column > row + shift
                     ? -std::numeric_limits<double>::infinity()
                     : 0;
    for (const Numbers& mask : additive) {
      sum += oracle::broadcast_at(mask, b, h, i, j);
    }
    return sum;
  };
}
