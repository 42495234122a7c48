#include "kernel.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

// In front of a loop of which the download should not carry copies.
#ifdef __clang__
#define SOFTLOOKUP_ONCE _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define SOFTLOOKUP_ONCE
#endif

HWY_BEFORE_NAMESPACE();
namespace softlookup::kernel::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, kPanel>;
using Vec = hn::Vec<Lanes>;
constexpr Lanes kLanes;
constexpr std::size_t kLength = hn::MaxLanes(kLanes);

// Eight accumulators fit into the registers together with what feeds them: four rows of A on eight
// lanes of 128 bits, eight rows of 256 bits.
constexpr std::size_t kVectors = kPanel / kLength;
constexpr std::size_t kRows = kPanel / kVectors;

/// The same, of which the compiler knows no more.
template <class T>
HWY_INLINE T opaque(T value) {
#if defined(__GNUC__)
  __asm__("" : "+r"(value));
#endif
  return value;
}

/// Here all of them are known, none before the others: the compiler cannot finish one before it
/// begins the next.
template <class V, std::size_t N>
HWY_INLINE void in_step(V (&x)[N]) {
#if HWY_TARGET == HWY_WASM
  for (V& one : x) {
    __asm__ volatile("" : "+r"(one.raw));
  }
#else
  static_cast<void>(x);
#endif
}

/// step(0), ..., step(kTurn - 1), then advance(), and again, until `count` steps are done. V8
/// checks the stack once a turn, and loads what a step wants, not more, before it computes: over a
/// possible exit it moves nothing.
template <std::size_t kTurn, class Step, class Advance>
HWY_INLINE void in_turns(std::size_t count, Step step, Advance advance) {
  while (count > 0) {
#ifdef __clang__
#pragma clang loop unroll(full)
#endif
    for (std::size_t s = 0; s < kTurn; ++s) {
      step(s);
      count = opaque(count - 1);
      if (count == 0) {
        return;
      }
    }
    advance();
  }
}

/// C = X Yᵀ, or C = C · shrink + X Yᵀ: kCount rows of X [kCount, depth], broadcast, times kWide
/// panels of Y, kSteps numbers of X a turn. Number k of row r of X is at x[r * row + k * step];
/// shrink [8] is of each panel.
template <std::size_t kCount, std::size_t kWide, std::size_t kSteps>
HWY_INLINE void multiply_tile(const float* x, std::size_t row, std::size_t step, const PanelsOf& y,
                              std::size_t depth, float* HWY_RESTRICT c, std::size_t c_stride,
                              const float* shrink) {
  // Two panels at once: of more, V8 would load all before it uses the first, and run out of
  // registers.
  constexpr std::size_t kPart = kWide == 1 ? 1 : 2;
  constexpr std::size_t kParts = kWide / kPart;
  Vec elements[kCount];
  Vec sum[kCount][kWide][kVectors];
  for (std::size_t r = 0; r < kCount; ++r) {
    elements[r] = hn::Zero(kLanes);
    for (std::size_t w = 0; w < kWide; ++w) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        sum[r][w][v] = hn::Zero(kLanes);
        if (shrink != nullptr) {
          const Vec before = hn::LoadU(kLanes, c + r * c_stride + w * kPanel + v * kLength);
          sum[r][w][v] = hn::Mul(before, hn::LoadU(kLanes, shrink + v * kLength));
        }
      }
    }
  }
  const float* panels[kWide];
  for (std::size_t w = 0; w < kWide; ++w) {
    panels[w] = y.data + w * y.stride;
  }
  const auto part = [&](std::size_t p) HWY_ATTR {
    const std::size_t first = p % kParts * kPart;
    Vec lanes[kPart][kVectors];
    for (std::size_t w = 0; w < kPart; ++w) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        lanes[w][v] = hn::LoadU(kLanes, panels[first + w] + p / kParts * kPanel + v * kLength);
      }
    }
    for (std::size_t r = 0; r < kCount; ++r) {
      if (first == 0) {
        elements[r] = hn::Set(kLanes, x[r * row]);
      }
      for (std::size_t w = 0; w < kPart; ++w) {
        for (std::size_t v = 0; v < kVectors; ++v) {
          sum[r][first + w][v] = hn::MulAdd(elements[r], lanes[w][v], sum[r][first + w][v]);
        }
      }
    }
    if (first + kPart == kWide) {
      x = opaque(x + step);  // not as an offset, which V8 does not put into a broadcast
    }
  };
  in_turns<kSteps * kParts>(depth * kParts, part, [&]() HWY_ATTR {
    for (std::size_t w = 0; w < kWide; ++w) {
      panels[w] += kSteps * kPanel;
    }
  });
  for (std::size_t r = 0; r < kCount; ++r) {
    for (std::size_t w = 0; w < kWide; ++w) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        hn::StoreU(sum[r][w][v], kLanes, c + r * c_stride + w * kPanel + v * kLength);
      }
    }
  }
}

// Many steps a turn where most of the time goes; elsewhere fewer, since each is code to download.

void multiply_lanes(const PanelsOf& a, std::size_t depth, const float* b, float* c,
                    const float* shrink) {
  const PanelsOf lanes{b, 0, kPanel};
  for (std::size_t row = 0; row < a.rows; row += kRows) {
    multiply_tile<kRows, 1, 16>(a.data + row / kPanel * a.stride + row % kPanel, 1, kPanel, lanes,
                                depth, c + row * kPanel, kPanel, shrink);
  }
}

void multiply_rows(const PanelsOf& a, std::size_t depth, const float* b, std::size_t b_stride,
                   std::size_t count, float* c, std::size_t c_stride, bool add) {
  const float* const shrink = add ? kUnshrunk : nullptr;
  for (std::size_t row = 0; row < a.rows;) {
    const PanelsOf from{a.data + row / kPanel * a.stride, a.stride, a.rows - row};
    const std::size_t wide = from.rows >= 4 * kPanel ? 4 : 1;
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4) {
      for (std::size_t w = 0; w < wide; ++w) {
        const PanelsOf one{from.data + w * a.stride, a.stride, kPanel};
        multiply_tile<4, 1, 4>(b + r * b_stride, b_stride, 1, one, depth,
                               c + r * c_stride + row + w * kPanel, c_stride, shrink);
      }
    }
    for (; r < count; ++r) {
      const float* x = b + r * b_stride;
      float* to = c + r * c_stride + row;
      if (wide == 4) {
        multiply_tile<1, 4, 8>(x, b_stride, 1, from, depth, to, c_stride, shrink);
      } else {
        multiply_tile<1, 1, 4>(x, b_stride, 1, from, depth, to, c_stride, shrink);
      }
    }
    row += wide * kPanel;
  }
}

/// The larger one, `than` where x is NaN. Not Max, whose answer for NaN differs from target to
/// target and which WebAssembly computes slowly because of it.
template <class D>
HWY_INLINE hn::Vec<D> larger(D, hn::Vec<D> x, hn::Vec<D> than) {
#if HWY_TARGET == HWY_WASM
  return hn::Vec<D>{wasm_f32x4_pmax(than.raw, x.raw)};
#else
  return hn::IfThenElse(hn::Gt(x, than), x, than);
#endif
}

/// Loaded from memory at every use: V8 would build each constant anew from immediates.
struct ExpConstants {
  float log2_e = 1.442695041F;
  float lowest = -127.0F;
  /// Adding it rounds to a whole number n and leaves n + 127, the exponent of 2^n, in the low bits.
  float rounder = 12583039.0F;  // 1.5 * 2^23 + 127
  /// 2^f for |f| <= 1/2 to 3.9e-9 of itself, and 1 for 0 (Remez exchange).
  float c[7] = {1.0F,           0.693147225395F, 0.240226510841F, 0.055502973142F,
                0.00961803078F, 0.001341000966F, 0.0001546973198F};
};

const ExpConstants* exp_constants() {
  static const ExpConstants constants;
  return opaque(&constants);
}

/// x = exp(x) for N vectors of x <= 0; exactly 1 for 0, exactly 0 from -88 down, NaN for NaN. In
/// step with one another, so that a constant is fetched once for all.
template <std::size_t N, class D>
HWY_INLINE void exp_of(D d, hn::Vec<D> (&x)[N], const ExpConstants* constants) {
  const auto constant = [d](const float& value) HWY_ATTR { return hn::Set(d, value); };
  const auto log2_e = constant(constants->log2_e);
  const auto lowest = constant(constants->lowest);
  const auto rounder = constant(constants->rounder);
  hn::Vec<D> shifted[N];
  for (std::size_t n = 0; n < N; ++n) {
    const auto scaled = hn::Mul(x[n], log2_e);
    const auto y = larger(d, lowest, scaled);
    shifted[n] = hn::Add(y, rounder);
    x[n] = hn::Sub(y, hn::Sub(shifted[n], rounder));
  }
  hn::Vec<D> power[N];
  const auto highest = constant(constants->c[6]);
  for (std::size_t n = 0; n < N; ++n) {
    power[n] = highest;
  }
  for (std::size_t i = 6; i-- > 0;) {
    const auto coefficient = constant(constants->c[i]);
    for (std::size_t n = 0; n < N; ++n) {
      power[n] = hn::MulAdd(power[n], x[n], coefficient);
    }
  }
  const hn::RebindToSigned<D> whole;
  for (std::size_t n = 0; n < N; ++n) {
    x[n] = hn::Mul(power[n], hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(whole, shifted[n]))));
  }
}

template <class D>
HWY_INLINE hn::Vec<D> exp_of(D d, hn::Vec<D> x, const ExpConstants* constants) {
  hn::Vec<D> one[1] = {x};
  exp_of(d, one, constants);
  return one[0];
}

/// Largest so far -> what to subtract: a row without a key has none, and -Infinity minus itself
/// would be NaN.
template <class D>
HWY_INLINE hn::Vec<D> subtrahend(D d, hn::Vec<D> max) {
  return hn::IfThenZeroElse(hn::Lt(max, hn::Set(d, std::numeric_limits<float>::lowest())), max);
}

// The two below stay functions, which lanes and rows share: apart, they have all registers.

/// The largest of `top` and of `count` vectors, `stride` floats from one to the next.
template <class D>
HWY_NOINLINE hn::Vec<D> largest(D d, hn::Vec<D> top, const float* x, std::size_t stride,
                                std::size_t count) {
  hn::Vec<D> tops[4] = {top, top, top, top};
  SOFTLOOKUP_ONCE
  for (; count >= 4; count -= 4, x += 4 * stride) {
    for (std::size_t s = 0; s < 4; ++s) {
      tops[s] = larger(d, hn::LoadU(d, x + s * stride), tops[s]);
    }
  }
  SOFTLOOKUP_ONCE
  for (; count > 0; --count, x += stride) {
    tops[0] = larger(d, hn::LoadU(d, x), tops[0]);
  }
  return larger(d, larger(d, tops[0], tops[1]), larger(d, tops[2], tops[3]));
}

/// x = exp(x - shift) for `count` vectors, `stride` floats from one to the next.
template <class D>
HWY_NOINLINE void exp_each(D d, float* x, std::size_t stride, std::size_t count, hn::Vec<D> shift) {
  const ExpConstants* constants = exp_constants();
  SOFTLOOKUP_ONCE
  for (; count >= 4; count -= 4, x += 4 * stride) {
    hn::Vec<D> e[4];
    for (std::size_t s = 0; s < 4; ++s) {
      e[s] = hn::LoadU(d, x + s * stride);
    }
    in_step(e);
    for (auto& one : e) {
      one = hn::Sub(one, shift);
    }
    exp_of(d, e, constants);
    in_step(e);
    for (std::size_t s = 0; s < 4; ++s) {
      hn::StoreU(e[s], d, x + s * stride);
    }
  }
  SOFTLOOKUP_ONCE
  for (; count > 0; --count, x += stride) {
    hn::StoreU(exp_of(d, hn::Sub(hn::LoadU(d, x), shift), constants), d, x);
  }
}

void soften_lanes(float* scores, std::size_t keys, float* max, float* sums, float* shrink) {
  for (std::size_t v = 0; v < kPanel; v += kLength) {
    const float* column = scores + v;
    const Vec before = hn::LoadU(kLanes, max + v);
    const Vec top = largest(kLanes, before, column, kPanel, keys);
    const Vec shift = subtrahend(kLanes, top);
    const Vec factor = exp_of(kLanes, hn::Sub(before, shift), exp_constants());
    exp_each(kLanes, scores + v, kPanel, keys, shift);
    Vec sum[4];
    for (std::size_t s = 0; s < 4; ++s) {
      sum[s] = hn::Mul(hn::LoadU(kLanes, sums + s * kPanel + v), factor);
    }
    std::size_t key = 0;
    SOFTLOOKUP_ONCE
    for (; key + 4 <= keys; key += 4, column += 4 * kPanel) {
      for (std::size_t s = 0; s < 4; ++s) {
        sum[s] = hn::Add(sum[s], hn::LoadU(kLanes, column + s * kPanel));
      }
    }
    for (std::size_t s = 0; s < 4; ++s) {
      if (key + s < keys) {
        sum[s] = hn::Add(sum[s], hn::LoadU(kLanes, column + s * kPanel));
      }
      hn::StoreU(sum[s], kLanes, sums + s * kPanel + v);
    }
    hn::StoreU(top, kLanes, max + v);
    hn::StoreU(factor, kLanes, shrink + v);
  }
}

void soften_row(float* scores, std::size_t keys, float* max, float* sums, float* shrink) {
  constexpr hn::CappedTag<float, 4> d;
  constexpr std::size_t kAtOnce = hn::MaxLanes(d);
  const std::size_t fours = (keys + 3) / 4;
  std::fill(scores + keys, scores + fours * 4, -std::numeric_limits<float>::infinity());
  const auto before = hn::Set(d, *max);
  float top[kAtOnce];
  hn::StoreU(largest(d, before, scores, kAtOnce, fours * 4 / kAtOnce), d, top);
  *max = *std::max_element(top, top + kAtOnce);
  const auto shift = subtrahend(d, hn::Set(d, *max));
  const auto factor = exp_of(d, hn::Sub(before, shift), exp_constants());
  for (std::size_t part = 0; part < 4; part += kAtOnce) {
    exp_each(d, scores + part, 4, fours, shift);
    auto sum = hn::Mul(hn::LoadU(d, sums + part), factor);
    SOFTLOOKUP_ONCE
    for (std::size_t key = part; key < fours * 4; key += 4) {
      sum = hn::Add(sum, hn::LoadU(d, scores + key));
    }
    hn::StoreU(sum, d, sums + part);
  }
  *shrink = hn::GetLane(factor);
}

void add_biases(float* scores, const float* biases, std::size_t count) {
  const Vec hidden = hn::Set(kLanes, -std::numeric_limits<float>::infinity());
  SOFTLOOKUP_ONCE
  for (std::size_t i = 0; i < count; i += kLength) {
    const Vec bias = hn::LoadU(kLanes, biases + i);
    const Vec sum = hn::Add(hn::LoadU(kLanes, scores + i), bias);
    hn::StoreU(hn::IfThenElse(hn::Eq(bias, hidden), hidden, sum), kLanes, scores + i);
  }
}

// Rows and lanes are turned into one another four by four numbers at a time.

#if HWY_TARGET != HWY_SCALAR

using Four = hn::Vec<hn::CappedTag<float, 4>>;
constexpr hn::CappedTag<float, 4> kFour;

/// Rows become columns.
HWY_INLINE void transpose(Four (&x)[4]) {
  const Four low1 = hn::InterleaveLower(kFour, x[0], x[1]);
  const Four low2 = hn::InterleaveLower(kFour, x[2], x[3]);
  const Four high1 = hn::InterleaveUpper(kFour, x[0], x[1]);
  const Four high2 = hn::InterleaveUpper(kFour, x[2], x[3]);
  x[0] = hn::ConcatLowerLower(kFour, low2, low1);
  x[1] = hn::ConcatUpperUpper(kFour, low2, low1);
  x[2] = hn::ConcatLowerLower(kFour, high2, high1);
  x[3] = hn::ConcatUpperUpper(kFour, high2, high1);
}

/// square(c, half) for columns c to c + 3, of those that four go into, and lanes half to half + 3.
/// How many numbers that are.
template <class Square>
HWY_INLINE std::size_t for_each_square(std::size_t count, Square square) {
  const std::size_t numbers = count / 4 * 4 * kPanel;
  SOFTLOOKUP_ONCE
  for (std::size_t n = 0; n < numbers; n += 16) {
    square(n / 32 * 4, n / 16 % 2 * 4);
  }
  return numbers;
}

#endif

void rows_to_lanes(const float* from, std::size_t stride, std::size_t count, float factor,
                   float* to) {
  std::size_t n = 0;
#if HWY_TARGET != HWY_SCALAR
  const Four factors = hn::Set(kFour, factor);
  n = for_each_square(count, [&](std::size_t c, std::size_t half) HWY_ATTR {
    Four block[4];
    for (std::size_t r = 0; r < 4; ++r) {
      block[r] = hn::Mul(hn::LoadU(kFour, from + (half + r) * stride + c), factors);
    }
    transpose(block);
    for (std::size_t i = 0; i < 4; ++i) {
      hn::StoreU(block[i], kFour, to + (c + i) * kPanel + half);
    }
  });
#endif
  SOFTLOOKUP_ONCE
  for (; n < count * kPanel; ++n) {
    to[n] = from[n % kPanel * stride + n / kPanel] * factor;
  }
}

bool lanes_to_rows(const float* from, std::size_t count, float* to, std::size_t stride) {
  float poison = 0.0F;  // NaN as soon as one number is not finite
  std::size_t n = 0;
#if HWY_TARGET != HWY_SCALAR
  const Four zero = hn::Zero(kFour);
  Four poisons = zero;
  n = for_each_square(count, [&](std::size_t c, std::size_t half) HWY_ATTR {
    Four block[4];
    for (std::size_t i = 0; i < 4; ++i) {
      block[i] = hn::Add(hn::LoadU(kFour, from + (c + i) * kPanel + half), zero);
      poisons = hn::Add(poisons, hn::Sub(block[i], block[i]));
    }
    transpose(block);
    for (std::size_t r = 0; r < 4; ++r) {
      hn::StoreU(block[r], kFour, to + (half + r) * stride + c);
    }
  });
  poison = hn::GetLane(hn::SumOfLanes(kFour, poisons));
#endif
  SOFTLOOKUP_ONCE
  for (; n < count * kPanel; ++n) {
    const float number = from[n] + 0.0F;
    to[n % kPanel * stride + n / kPanel] = number;
    poison += number - number;
  }
  return poison == 0.0F;
}

void scale_row(float* c, std::size_t count, float factor) {
  const Vec factors = hn::Set(kLanes, factor);
  SOFTLOOKUP_ONCE
  for (std::size_t i = 0; i < count; i += kLength) {
    hn::StoreU(hn::Mul(hn::LoadU(kLanes, c + i), factors), kLanes, c + i);
  }
}

bool divide_row(const float* from, std::size_t count, float divisor, float* to) {
  const Vec zero = hn::Zero(kLanes);
  const Vec divisors = hn::Set(kLanes, divisor);
  Vec poisons = zero;
  std::size_t i = 0;
  SOFTLOOKUP_ONCE
  for (; i + kLength <= count; i += kLength) {
    const Vec quotient = hn::Add(hn::Div(hn::LoadU(kLanes, from + i), divisors), zero);
    hn::StoreU(quotient, kLanes, to + i);
    poisons = hn::Add(poisons, hn::Sub(quotient, quotient));
  }
  float poison = hn::GetLane(hn::SumOfLanes(kLanes, poisons));
  SOFTLOOKUP_ONCE
  for (; i < count; ++i) {
    to[i] = from[i] / divisor + 0.0F;
    poison += to[i] - to[i];
  }
  return poison == 0.0F;
}

}  // namespace softlookup::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace softlookup::kernel {

namespace {

/// Calls through a pointer that no optimiser sees through. Inlined where it is called, a loop would
/// share registers with what is around it, and V8 would move them to memory and back.
template <class Function, class... Arguments>
void call_apart(Function& function, Arguments... arguments) {
  Function* volatile pointer = &function;
  pointer(arguments...);
}

}  // namespace

HWY_EXPORT(multiply_lanes);
HWY_EXPORT(multiply_rows);
HWY_EXPORT(soften_lanes);
HWY_EXPORT(soften_row);
HWY_EXPORT(add_biases);
HWY_EXPORT(rows_to_lanes);
HWY_EXPORT(lanes_to_rows);
HWY_EXPORT(scale_row);
HWY_EXPORT(divide_row);

void multiply_lanes(const PanelsOf& a, std::size_t depth, const float* b, float* c,
                    const float* shrink) {
  call_apart(HWY_DYNAMIC_DISPATCH(multiply_lanes), a, depth, b, c, shrink);
}

void multiply_rows(const PanelsOf& a, std::size_t depth, const float* b, std::size_t b_stride,
                   std::size_t count, float* c, std::size_t c_stride, bool add) {
  call_apart(HWY_DYNAMIC_DISPATCH(multiply_rows), a, depth, b, b_stride, count, c, c_stride, add);
}

void soften_lanes(float* scores, std::size_t keys, float* max, float* sums, float* shrink) {
  call_apart(HWY_DYNAMIC_DISPATCH(soften_lanes), scores, keys, max, sums, shrink);
}

void soften_row(float* scores, std::size_t keys, float* max, float* sums, float* shrink) {
  call_apart(HWY_DYNAMIC_DISPATCH(soften_row), scores, keys, max, sums, shrink);
}

void add_biases(float* scores, const float* biases, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(add_biases)(scores, biases, count);
}

void rows_to_lanes(const float* from, std::size_t stride, std::size_t count, float factor,
                   float* to) {
  HWY_DYNAMIC_DISPATCH(rows_to_lanes)(from, stride, count, factor, to);
}

bool lanes_to_rows(const float* from, std::size_t count, float* to, std::size_t stride) {
  return HWY_DYNAMIC_DISPATCH(lanes_to_rows)(from, count, to, stride);
}

void scale_row(float* c, std::size_t count, float factor) {
  HWY_DYNAMIC_DISPATCH(scale_row)(c, count, factor);
}

bool divide_row(const float* from, std::size_t count, float divisor, float* to) {
  return HWY_DYNAMIC_DISPATCH(divide_row)(from, count, divisor, to);
}

}  // namespace softlookup::kernel
#endif
