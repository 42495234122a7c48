#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "attention.hpp"
#include "error.hpp"
#include "mask.hpp"
#include "oracle.hpp"
#include "tensor.hpp"

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kMaxFloat = std::numeric_limits<float>::max();

// ---- arrays ---------------------------------------------------------------------------------

template <class Array>
Numbers numbers(const Array& array) {
  return {std::vector<std::size_t>(array.shape().begin(), array.shape().end()),
          std::vector<double>(array.begin(), array.end())};
}

/// A vector of numbers.
Numbers list(std::initializer_list<double> data);

/// The same numbers in another shape of the same size.
Numbers reshaped(Numbers x, const std::vector<std::size_t>& shape);

/// [A, B, ...] -> [B, A, ...]
Numbers first_axes_swapped(const Numbers& x);

/// Row-major; a missing leading axis counts as 1. Throws std::logic_error when the size is wrong.
softlookup::Tensor4 tensor4(const Numbers& x);
softlookup::Tensor3 tensor3(const Numbers& x);
softlookup::Tensor4 tensor4(const std::vector<std::size_t>& shape, const std::vector<float>& data);
softlookup::Tensor3 tensor3(const std::vector<std::size_t>& shape, const std::vector<float>& data);
softlookup::Tensor2 tensor2(const std::vector<std::size_t>& shape, const std::vector<float>& data);
softlookup::NdArray nd_array(const std::vector<std::size_t>& shape, const std::vector<float>& data);

/// Non-zero = may attend.
softlookup::NdBool keep(const std::vector<std::size_t>& shape,
                        const std::vector<std::uint8_t>& data);
/// Added to the scores.
softlookup::NdArray bias(const std::vector<std::size_t>& shape, const std::vector<float>& data);

/// One number a token: [1, 1, n, 1].
softlookup::Tensor4 tokens(const std::vector<float>& data);
softlookup::Tensor4 zero_tokens(std::size_t count);

// ---- comparing ------------------------------------------------------------------------------

/// "[2, 3, 4]"
template <class Shape>
std::string shape_text(const Shape& shape) {
  std::string text;
  softlookup::Detail(shape).append_to(text);
  return text;
}

/// |got - want| <= absolute + relative * |want|
struct Tolerance {
  double absolute, relative;
};
constexpr Tolerance kExact{0, 0};
/// For values written down with six decimals.
constexpr Tolerance kSixDecimals{1e-6, 0};
/// What the numeric contract grants on unit-scale inputs.
constexpr Tolerance kContract{2e-6, 0};

/// Empty when equal, else the first difference in words. Sizes come first (leading axes of 1 do
/// not count), NaN meets NaN only, an infinity the same infinity only.
std::string mismatch(const Numbers& got, const Numbers& want, Tolerance tolerance);

/// Empty when every bit is the same, the sign of zero and a NaN's payload included.
std::string other_bits(const float* got, const float* want, std::size_t count);
template <class Array>
std::string other_bits(const Array& got, const Array& want) {
  if (got.shape() != want.shape()) {
    return "shape " + shape_text(got.shape()) + " instead of " + shape_text(want.shape());
  }
  return other_bits(got.data(), want.data(), got.size());
}

// ---- errors ---------------------------------------------------------------------------------

/// Empty when `call` throws exactly this code, with all of `fragments` in the message, and the next
/// valid call still gives the right answer; else what was wrong.
std::string refusal(softlookup::ErrorCode code, const std::vector<std::string>& fragments,
                    const std::function<void()>& call);

// ---- attention, for the small cases ---------------------------------------------------------

struct Options {
  std::vector<softlookup::Mask> masks;
  softlookup::Causal causal = softlookup::Causal::none;
};

/// q = k = 0 and one number a key: the output is the mean of the visible v.
Numbers mean_of_visible(std::size_t queries, const std::vector<float>& v, const Options& options);

softlookup::AttentionOptions with(std::vector<softlookup::Mask> masks,
                                  softlookup::Causal causal = softlookup::Causal::none);

// ---- random inputs --------------------------------------------------------------------------

/// The same numbers on every machine; not the generator of src/.
class RandomInput {
 public:
  explicit RandomInput(std::uint32_t seed) : engine_(seed) {}

  double uniform();  // in [0, 1)
  double normal();   // mean 0, variance 1: twelve uniform numbers less six
  std::size_t between(std::size_t low, std::size_t high);  // both included
  bool chance(double probability) { return uniform() < probability; }

  softlookup::Tensor3 tensor3(const std::vector<std::size_t>& shape);
  softlookup::Tensor4 tensor4(const std::vector<std::size_t>& shape);
  softlookup::NdArray nd_array(const std::vector<std::size_t>& shape);
  /// `visible` is the chance of a pair to take part.
  softlookup::NdBool keep(const std::vector<std::size_t>& shape, double visible);
  softlookup::NdArray bias(const std::vector<std::size_t>& shape, double visible);

 private:
  std::vector<float> floats(const std::vector<std::size_t>& shape);

  std::mt19937 engine_;
};

/// What the oracle needs to know of masks and causality, from the definition: every mask counts,
/// by NumPy's broadcasting; top left j <= i, bottom right j <= i + S - L.
oracle::Bias oracle_bias(const std::vector<softlookup::Mask>& masks, softlookup::Causal causal,
                         std::size_t queries, std::size_t keys);
