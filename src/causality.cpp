#include "causality.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "error.hpp"
#include "random.hpp"

namespace softlookup {

namespace {

/// x seen as [outer, positions, inner] around one axis.
struct AxisView {
  std::size_t outer = 1;
  std::size_t positions = 1;
  std::size_t inner = 1;

  AxisView(const NdArray& x, std::size_t axis) : positions(x.shape(axis)) {
    for (std::size_t a = 0; a < axis; ++a) {
      outer *= x.shape(a);
    }
    for (std::size_t a = axis + 1; a < x.dimension(); ++a) {
      inner *= x.shape(a);
    }
  }

  [[nodiscard]] std::size_t offset(std::size_t o, std::size_t position) const {
    return (o * positions + position) * inner;
  }
};

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

double distance(float a, float b) {
  if (same_bits(a, b) || (std::isnan(a) && std::isnan(b))) {
    return 0;
  }
  const double difference = std::abs(static_cast<double>(a) - static_cast<double>(b));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

/// An order of [first, end) in which, from two tokens on, none stays where it was.
std::vector<std::size_t> rotation(std::size_t first, std::size_t end, NormalNumbers& random) {
  std::vector<std::size_t> order(end - first);
  std::iota(order.begin(), order.end(), first);
  if (order.size() > 1) {
    const std::size_t turn = 1 + random.below(order.size() - 1);
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(turn), order.end());
  }
  return order;
}

}  // namespace

NdArray replace_tokens(const NdArray& x, std::size_t axis, std::size_t first, std::size_t end,
                       Replacement kind, float magnitude, std::uint32_t seed) {
  NdArray replaced = x;
  const AxisView view(x, axis);
  NormalNumbers random(seed);
  const auto order = rotation(first, end, random);
  for (std::size_t o = 0; o < view.outer; ++o) {
    for (std::size_t position = first; position < end; ++position) {
      float* token = replaced.data() + view.offset(o, position);
      const float* source = x.data() + view.offset(o, order[position - first]);
      for (std::size_t e = 0; e < view.inner; ++e) {
        switch (kind) {
          case Replacement::random:
            token[e] = static_cast<float>(random.next()) * magnitude;
            break;
          case Replacement::large:
            token[e] += magnitude;
            break;
          case Replacement::permuted:
            token[e] = source[e];
            break;
          case Replacement::nan:
            token[e] = std::numeric_limits<float>::quiet_NaN();
            break;
        }
      }
    }
  }
  return replaced;
}

Moves compare_positions(const NdArray& before, const NdArray& after, std::size_t axis,
                        double tolerance) {
  if (before.shape() != after.shape()) {
    fail(ErrorCode::FUNCTION, "the function returned % after % for an input of the same shape",
         {after.shape(), before.shape()});
  }
  const AxisView view(before, axis);
  Moves moves{std::vector<std::uint8_t>(view.positions), std::vector<double>(view.positions)};
  for (std::size_t o = 0; o < view.outer; ++o) {
    for (std::size_t position = 0; position < view.positions; ++position) {
      const float* a = before.data() + view.offset(o, position);
      const float* b = after.data() + view.offset(o, position);
      for (std::size_t e = 0; e < view.inner; ++e) {
        const double far = distance(a[e], b[e]);
        const bool moved = tolerance == 0 ? !same_bits(a[e], b[e]) : far > tolerance;
        if (moved) {
          moves.moved[position] = 1;
          moves.distance[position] = std::max(moves.distance[position], far);
        }
      }
    }
  }
  return moves;
}

}  // namespace softlookup
