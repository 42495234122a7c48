#include "kernel.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel.cpp"
#include <hwy/foreach_target.h>
// foreach_target comes first
#include <hwy/highway.h>

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

/// kRows rows of A, broadcast, times B [depth, 8].
HWY_INLINE void multiply_tile(const float* HWY_RESTRICT a, std::size_t depth,
                              const float* HWY_RESTRICT b, float* HWY_RESTRICT c, bool add) {
  Vec sum[kRows][kVectors];
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sum[r][v] = add ? hn::LoadU(kLanes, c + r * kPanel + v * kLength) : hn::Zero(kLanes);
    }
  }
  for (std::size_t k = 0; k < depth; ++k, a += kPanel, b += kPanel) {
    Vec lanes[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      lanes[v] = hn::LoadU(kLanes, b + v * kLength);
    }
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vec element = hn::Set(kLanes, a[r]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sum[r][v] = hn::MulAdd(element, lanes[v], sum[r][v]);
      }
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sum[r][v], kLanes, c + r * kPanel + v * kLength);
    }
  }
}

void multiply_lanes(const PanelsOf& a, std::size_t depth, const float* b, float* c, bool add) {
  for (std::size_t row = 0; row < a.rows; row += kRows) {
    multiply_tile(a.data + row / kPanel * a.stride + row % kPanel, depth, b, c + row * kPanel, add);
  }
}

/// `kCount` rows of B, broadcast, times `kWide` panels of A.
template <std::size_t kCount, std::size_t kWide>
HWY_INLINE void multiply_across(const PanelsOf& a, std::size_t depth, const float* HWY_RESTRICT b,
                                std::size_t b_stride, float* HWY_RESTRICT c, std::size_t c_stride,
                                bool add) {
  Vec sum[kCount][kWide][kVectors];
  for (std::size_t r = 0; r < kCount; ++r) {
    for (std::size_t w = 0; w < kWide; ++w) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        sum[r][w][v] =
            add ? hn::LoadU(kLanes, c + r * c_stride + w * kPanel + v * kLength) : hn::Zero(kLanes);
      }
    }
  }
  const float* HWY_RESTRICT column = a.data;
  for (std::size_t k = 0; k < depth; ++k, column += kPanel, ++b) {
    Vec lanes[kWide][kVectors];
    for (std::size_t w = 0; w < kWide; ++w) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        lanes[w][v] = hn::LoadU(kLanes, column + w * a.stride + v * kLength);
      }
    }
    for (std::size_t r = 0; r < kCount; ++r) {
      const Vec element = hn::Set(kLanes, b[r * b_stride]);
      for (std::size_t w = 0; w < kWide; ++w) {
        for (std::size_t v = 0; v < kVectors; ++v) {
          sum[r][w][v] = hn::MulAdd(element, lanes[w][v], sum[r][w][v]);
        }
      }
    }
  }
  for (std::size_t r = 0; r < kCount; ++r) {
    for (std::size_t w = 0; w < kWide; ++w) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        hn::StoreU(sum[r][w][v], kLanes, c + r * c_stride + w * kPanel + v * kLength);
      }
    }
  }
}

void multiply_rows(const PanelsOf& a, std::size_t depth, const float* b, std::size_t b_stride,
                   std::size_t count, float* c, std::size_t c_stride, bool add) {
  for (std::size_t row = 0; row < a.rows;) {
    const PanelsOf from{a.data + row / kPanel * a.stride, a.stride, a.rows - row};
    const std::size_t wide = from.rows >= 4 * kPanel ? 4 : 1;
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4) {
      for (std::size_t w = 0; w < wide; ++w) {
        const PanelsOf one{from.data + w * a.stride, a.stride, kPanel};
        multiply_across<4, 1>(one, depth, b + r * b_stride, b_stride,
                              c + r * c_stride + row + w * kPanel, c_stride, add);
      }
    }
    for (; r < count; ++r) {
      if (wide == 4) {
        multiply_across<1, 4>(from, depth, b + r * b_stride, b_stride, c + r * c_stride + row,
                              c_stride, add);
      } else {
        multiply_across<1, 1>(from, depth, b + r * b_stride, b_stride, c + r * c_stride + row,
                              c_stride, add);
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
  const ExpConstants* hidden = &constants;
#if defined(__GNUC__)
  __asm__("" : "+r"(hidden));  // else the compiler sees through
#endif
  return hidden;
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

void soften_lanes(float* scores, std::size_t keys, float* max, float* sums, float* shrink) {
  const ExpConstants* constants = exp_constants();
  const std::size_t whole = keys / 4 * 4;
  for (std::size_t v = 0; v < kPanel; v += kLength) {
    float* const column = scores + v;
    const auto at = [column](std::size_t key)
                        HWY_ATTR { return hn::LoadU(kLanes, column + key * kPanel); };
    const Vec before = hn::LoadU(kLanes, max + v);
    Vec top = before;
    Vec top2 = before;
    std::size_t key = 0;
    for (; key < whole; key += 2) {
      top = larger(kLanes, at(key), top);
      top2 = larger(kLanes, at(key + 1), top2);
    }
    for (; key < keys; ++key) {
      top = larger(kLanes, at(key), top);
    }
    top = larger(kLanes, top2, top);
    const Vec shift = subtrahend(kLanes, top);
    const Vec factor = exp_of(kLanes, hn::Sub(before, shift), constants);
    Vec sum[4];
    for (std::size_t s = 0; s < 4; ++s) {
      sum[s] = hn::Mul(hn::LoadU(kLanes, sums + s * kPanel + v), factor);
    }
    for (key = 0; key < whole; key += 4) {
      for (std::size_t s = 0; s < 4; s += 2) {
        Vec e[2] = {hn::Sub(at(key + s), shift), hn::Sub(at(key + s + 1), shift)};
        exp_of(kLanes, e, constants);
        for (std::size_t n = 0; n < 2; ++n) {
          hn::StoreU(e[n], kLanes, column + (key + s + n) * kPanel);
          sum[s + n] = hn::Add(sum[s + n], e[n]);
        }
      }
    }
    for (std::size_t s = 0; s < keys - whole; ++s) {
      const Vec e = exp_of(kLanes, hn::Sub(at(whole + s), shift), constants);
      hn::StoreU(e, kLanes, column + (whole + s) * kPanel);
      sum[s] = hn::Add(sum[s], e);
    }
    for (std::size_t s = 0; s < 4; ++s) {
      hn::StoreU(sum[s], kLanes, sums + s * kPanel + v);
    }
    hn::StoreU(top, kLanes, max + v);
    hn::StoreU(factor, kLanes, shrink + v);
  }
}

void soften_row(float* scores, std::size_t keys, float* max, float* sums, float* shrink) {
  using Part = hn::CappedTag<float, 4>;
  constexpr Part d;
  constexpr std::size_t kParts = 4 / hn::MaxLanes(d);
  const ExpConstants* constants = exp_constants();
  const std::size_t padded = (keys + 3) / 4 * 4;
  std::fill(scores + keys, scores + padded, -std::numeric_limits<float>::infinity());
  const float before = *max;
  auto tops = hn::Set(d, before);
  for (std::size_t key = 0; key < padded; key += hn::MaxLanes(d)) {
    tops = larger(d, hn::LoadU(d, scores + key), tops);
  }
  float top[hn::MaxLanes(d)];
  hn::StoreU(tops, d, top);
  *max = *std::max_element(top, top + hn::MaxLanes(d));
  const auto shift = subtrahend(d, hn::Set(d, *max));
  const auto factor = exp_of(d, hn::Sub(hn::Set(d, before), shift), constants);
  for (std::size_t part = 0; part < kParts; ++part) {
    float* const own = sums + part * hn::MaxLanes(d);
    auto sum = hn::Mul(hn::LoadU(d, own), factor);
    for (std::size_t key = part * hn::MaxLanes(d); key < padded; key += 4) {
      const auto e = exp_of(d, hn::Sub(hn::LoadU(d, scores + key), shift), constants);
      hn::StoreU(e, d, scores + key);
      sum = hn::Add(sum, e);
    }
    hn::StoreU(sum, d, own);
  }
  *shrink = hn::GetLane(factor);
}

void add_biases(float* scores, const float* biases, std::size_t count) {
  const Vec hidden = hn::Set(kLanes, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < count; i += kLength) {
    const Vec bias = hn::LoadU(kLanes, biases + i);
    const Vec sum = hn::Add(hn::LoadU(kLanes, scores + i), bias);
    hn::StoreU(hn::IfThenElse(hn::Eq(bias, hidden), hidden, sum), kLanes, scores + i);
  }
}

void scale_lanes(float* c, std::size_t rows, const float* lanes) {
  for (std::size_t v = 0; v < kPanel; v += kLength) {
    const Vec factor = hn::LoadU(kLanes, lanes + v);
    for (std::size_t r = 0; r < rows; ++r) {
      float* place = c + r * kPanel + v;
      hn::StoreU(hn::Mul(hn::LoadU(kLanes, place), factor), kLanes, place);
    }
  }
}

void scale_row(float* c, std::size_t count, float factor) {
  const Vec factors = hn::Set(kLanes, factor);
  for (std::size_t i = 0; i < count; i += kLength) {
    hn::StoreU(hn::Mul(hn::LoadU(kLanes, c + i), factors), kLanes, c + i);
  }
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
HWY_EXPORT(scale_lanes);
HWY_EXPORT(scale_row);

void multiply_lanes(const PanelsOf& a, std::size_t depth, const float* b, float* c, bool add) {
  call_apart(HWY_DYNAMIC_DISPATCH(multiply_lanes), a, depth, b, c, add);
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

void scale_lanes(float* c, std::size_t rows, const float* lanes) {
  HWY_DYNAMIC_DISPATCH(scale_lanes)(c, rows, lanes);
}

void scale_row(float* c, std::size_t count, float factor) {
  HWY_DYNAMIC_DISPATCH(scale_row)(c, count, factor);
}

}  // namespace softlookup::kernel
#endif
