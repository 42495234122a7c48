#include "rope.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "error.hpp"
#include "float_range.hpp"

namespace softlookup {

namespace {

void require(bool condition, const char* message) {
  if (!condition) {
    fail(ErrorCode::OPTION, message);
  }
}

void require_positions(const std::vector<std::int64_t>& positions) {
  for (const std::int64_t position : positions) {
    if (position < 0 || position > kLargestPosition) {
      fail(ErrorCode::OPTION, "positions: % is not in 0 to %", {position, kLargestPosition});
    }
  }
}

void require_valid(const YarnScaling& yarn, double theta) {
  require(std::isfinite(yarn.factor) && yarn.factor >= 1,
          "scaling.factor must be a finite number, 1 or more");
  require(std::isfinite(yarn.original_max_positions) && yarn.original_max_positions >= 1,
          "scaling.originalMaxPositions must be a finite number, 1 or more");
  require(yarn.beta_slow > 0 && yarn.beta_fast > yarn.beta_slow && std::isfinite(yarn.beta_fast),
          "scaling.betaFast must be above scaling.betaSlow, and both above 0");
  require(!yarn.attention_factor ||
              (std::isfinite(*yarn.attention_factor) && *yarn.attention_factor > 0),
          "scaling.attentionFactor must be a finite number above 0");
  require(theta > 1, "theta must be above 1 with scaling");
}

/// The pair, counted in fractions, that makes `turns` turns within the original positions.
double pair_of_turns(double turns, const YarnScaling& yarn, std::size_t dims, double theta) {
  constexpr double kTwoPi = 6.283185307179586;
  return static_cast<double>(dims) * std::log(yarn.original_max_positions / (turns * kTwoPi)) /
         (2 * std::log(theta));
}

void slow_down(std::vector<double>& frequencies, const YarnScaling& yarn, double theta) {
  const std::size_t dims = 2 * frequencies.size();
  const double last = static_cast<double>(frequencies.size()) - 1;
  const double low = std::max(std::floor(pair_of_turns(yarn.beta_fast, yarn, dims, theta)), 0.0);
  const double high = std::min(std::ceil(pair_of_turns(yarn.beta_slow, yarn, dims, theta)), last);
  const double width = std::max(high - low, 0.001);  // no division by 0
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / width, 0.0, 1.0);
    frequencies[i] *= 1 - ramp + ramp / yarn.factor;
  }
}

/// The turn of every pair at one position after the other.
class Turns {
 public:
  Turns(std::size_t dims, double theta, const std::optional<YarnScaling>& scaling)
      : cos(dims / 2), sin(dims / 2), frequencies(dims / 2) {
    require(std::isfinite(theta) && theta > 0, "theta must be a finite number above 0");
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      // as exact as std::pow here, without its table of 4 KB
      frequencies[i] =
          std::exp(-2 * static_cast<double>(i) / static_cast<double>(dims) * std::log(theta));
    }
    if (scaling) {
      require_valid(*scaling, theta);
      slow_down(frequencies, *scaling, theta);
      length = scaling->attention_factor.value_or(0.1 * std::log(scaling->factor) + 1);
    }
  }

  void move_to(std::int64_t position) {
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      const double angle = static_cast<double>(position) * frequencies[i];
      cos[i] = length * std::cos(angle);
      sin[i] = length * std::sin(angle);
    }
  }

  /// Back instead of forth.
  void invert() {
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      cos[i] /= length * length;
      sin[i] /= -length * length;
    }
  }

  std::vector<double> cos, sin;
  std::vector<double> frequencies;
  double length = 1;  // of (cos, sin)
};

std::size_t resolve_dims(std::size_t dims, const Tensor4& x) {
  const std::size_t width = x.shape(3);
  if (width == 0 || (dims == 0 && width % 2 != 0)) {
    fail(ErrorCode::SHAPE, "x %: the last axis must be even, or dims named", {x.shape()});
  }
  if (dims == 0) {
    return width;
  }
  if (dims % 2 != 0 || dims > width) {
    fail(ErrorCode::OPTION, "dims = % must be even and at most the last axis of x %",
         {dims, x.shape()});
  }
  return dims;
}

}  // namespace

void turn_token(float* token, const std::vector<double>& cos, const std::vector<double>& sin,
                RopeLayout layout) {
  const std::size_t pairs = cos.size();
  const bool half = layout == RopeLayout::half;
  for (std::size_t i = 0; i < pairs; ++i) {
    float& first = token[half ? i : 2 * i];
    float& second = token[half ? i + pairs : 2 * i + 1];
    const double a = static_cast<double>(first);
    const double b = static_cast<double>(second);
    first = to_float(a * cos[i] - b * sin[i]);
    second = to_float(b * cos[i] + a * sin[i]);
  }
}

Tensor4 rope(const Tensor4& x, const RopeOptions& options,
             const std::vector<std::int64_t>& positions) {
  const std::size_t batch = x.shape(0), heads = x.shape(1), length = x.shape(2);
  const std::size_t dims = resolve_dims(options.dims, x);
  if (positions.size() != length && positions.size() != batch * length) {
    fail(ErrorCode::SHAPE, "positions: % of them for x %, expected [L] or [B, L]",
         {positions.size(), x.shape()});
  }
  require_positions(positions);
  Turns turns(dims, options.theta, options.scaling);

  Tensor4 rotated = x;
  if (length == 0) {
    return rotated;
  }
  const std::size_t rows = positions.size() / length;  // 1 or B
  for (std::size_t n = 0; n < positions.size(); ++n) {
    if (positions[n] == 0 && turns.length == 1) {
      continue;  // even cos 0 = 1 and sin 0 = 0 would change -0, and spread NaN within a pair
    }
    turns.move_to(positions[n]);
    if (options.inverse) {
      turns.invert();
    }
    for (std::size_t b = n / length; b < batch; b += rows) {
      for (std::size_t h = 0; h < heads; ++h) {
        turn_token(&rotated(b, h, n % length, 0), turns.cos, turns.sin, options.layout);
      }
    }
  }
  return rotated;
}

std::vector<std::int64_t> running_positions(std::int64_t first, std::size_t length) {
  std::vector<std::int64_t> positions(length);
  for (std::size_t i = 0; i < length; ++i) {
    positions[i] = first + static_cast<std::int64_t>(i);
  }
  require_positions(positions);
  return positions;
}

RopeTable rope_table(const std::vector<std::int64_t>& positions, std::size_t dims, double theta,
                     const std::optional<YarnScaling>& scaling) {
  if (dims == 0 || dims % 2 != 0) {
    fail(ErrorCode::OPTION, "dims = % must be even and above 0", {dims});
  }
  require_positions(positions);
  const std::array<std::size_t, 2> shape{positions.size(), dims / 2};
  require_addressable(shape, "cos");
  Turns turns(dims, theta, scaling);
  RopeTable table{xt::empty<float>(shape), xt::empty<float>(shape),
                  Tensor1::from_shape({dims / 2})};
  std::transform(turns.frequencies.begin(), turns.frequencies.end(),
                 table.inverse_frequencies.begin(), to_float);
  for (std::size_t n = 0; n < positions.size(); ++n) {
    turns.move_to(positions[n]);
    std::transform(turns.cos.begin(), turns.cos.end(), table.cos.data() + n * dims / 2, to_float);
    std::transform(turns.sin.begin(), turns.sin.end(), table.sin.data() + n * dims / 2, to_float);
  }
  return table;
}

}  // namespace softlookup
