#include "mask.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "error.hpp"
#include "float_range.hpp"

namespace softlookup {

namespace {

/// Strides of `own` along `target`, lined up at the last axis, 0 where an axis of 1 is repeated.
std::array<std::size_t, 4> broadcast_strides(const Shape& own, const ScoreShape& target) {
  const auto refuse = [&] {
    fail(ErrorCode::MASK_SHAPE, "mask % does not broadcast to [B, H, L, S] = %", {own, target});
  };
  if (own.size() > target.size()) {
    refuse();
  }
  std::array<std::size_t, 4> strides{};
  std::size_t stride = 1;
  for (std::size_t back = 1; back <= own.size(); ++back) {
    const std::size_t size = own[own.size() - back];
    const std::size_t wanted = target[target.size() - back];
    if (size != wanted && size != 1) {
      refuse();
    }
    strides[target.size() - back] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return strides;
}

MaskSpec spec_of(std::vector<Mask> masks, Causal causal, std::size_t free_keys) {
  MaskSpec spec;
  spec.masks = std::move(masks);
  spec.causal = causal;
  spec.free_keys = free_keys;
  return spec;
}

void require_length(std::size_t got, std::size_t wanted, const char* name, const char* dimension) {
  if (got != 0 && got != wanted) {
    fail(ErrorCode::SHAPE, "% [%], expected % = %", {name, got, dimension, wanted});
  }
}

/// Which way query 0 and key 0 are lined up. Nothing is guessed where L and S differ.
Alignment resolve_alignment(const MaskSpec& spec, std::size_t queries, std::size_t keys) {
  if (spec.causal == Causal::top_left) {
    return Alignment::top_left;
  }
  if (spec.causal == Causal::bottom_right) {
    return Alignment::bottom_right;
  }
  const bool positional = spec.causal != Causal::none || spec.window_left || spec.window_right ||
                          !spec.alibi_slopes.empty();
  if (positional && !spec.alignment && queries != keys) {
    fail(ErrorCode::AMBIGUOUS_CAUSAL,
         "causal: L = % and S = % differ; name the alignment, \"top-left\" or "
         "\"bottom-right\"",
         {queries, keys});
  }
  return spec.alignment.value_or(Alignment::top_left);
}

}  // namespace

Shape mask_shape(const Mask& mask) {
  return of_array(mask, [](const auto& array) { return shape_of(array); });
}

void require_valid_bias(const Mask& mask, const char* name) {
  const auto* bias = std::get_if<NdArray>(&mask);
  if (bias == nullptr) {
    return;
  }
  for (const float value : bias->storage()) {
    if (std::isnan(value) || value == std::numeric_limits<float>::infinity()) {
      fail(ErrorCode::MASK_VALUE,
           "% %: an additive mask may hold finite numbers and -Infinity, not NaN or +Infinity",
           {name, bias->shape()});
    }
  }
}

MaskRule::MaskRule(const MaskSpec& spec, const ScoreShape& shape) : spec_(&spec) { resolve(shape); }

MaskRule::MaskRule(MaskSpec&& spec, const ScoreShape& shape)
    : own_(std::move(spec)), spec_(&*own_) {
  resolve(shape);
}

MaskRule::MaskRule(std::vector<Mask> masks, Causal causal, const ScoreShape& shape,
                   std::size_t free_keys)
    : MaskRule(spec_of(std::move(masks), causal, free_keys), shape) {}

void MaskRule::resolve(const ScoreShape& shape) {
  const auto [batch, heads, queries, all_keys] = shape;
  if (spec_->free_keys > all_keys) {
    fail(ErrorCode::OPTION, "free keys: % exceed S = %", {spec_->free_keys, all_keys});
  }
  queries_ = queries;
  masked_keys_ = all_keys - spec_->free_keys;
  require_length(spec_->alibi_slopes.size(), heads, "alibiSlopes", "H");
  require_length(spec_->key_lengths.size(), batch, "keyLengths", "B");
  require_length(spec_->query_offsets.size(), batch, "offsets", "B");
  for (const float slope : spec_->alibi_slopes) {
    if (!std::isfinite(slope)) {
      fail(ErrorCode::OPTION, "alibiSlopes must be finite numbers");
    }
  }
  for (const std::size_t length : spec_->key_lengths) {
    if (length > masked_keys_) {
      fail(ErrorCode::OPTION, "keyLengths: % exceeds S = %", {length, masked_keys_});
    }
  }
  if (spec_->query_offsets.empty()) {
    alignment_ = resolve_alignment(*spec_, queries, masked_keys_);
  }
  const ScoreShape target{batch, heads, queries, masked_keys_};
  for (const Mask& mask : spec_->masks) {
    strides_.push_back(broadcast_strides(mask_shape(mask), target));
    require_valid_bias(mask);
  }
}

std::size_t MaskRule::real_keys(std::size_t b) const {
  return spec_->key_lengths.empty() ? masked_keys_ : spec_->key_lengths[b];
}

std::ptrdiff_t MaskRule::offset(std::size_t b) const {
  if (!spec_->query_offsets.empty()) {
    return spec_->query_offsets[b];
  }
  return alignment_ == Alignment::top_left
             ? 0
             : static_cast<std::ptrdiff_t>(real_keys(b)) - static_cast<std::ptrdiff_t>(queries_);
}

MaskRule::Reach MaskRule::masked_reach(std::size_t b, std::size_t i) const {
  const auto position = static_cast<std::int64_t>(i) + offset(b);
  const auto key = [this](std::int64_t place) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(place, 0, static_cast<std::int64_t>(masked_keys_)));
  };
  const auto distance = [](std::size_t keys) {
    constexpr std::size_t kFar = std::numeric_limits<std::size_t>::max() / 4;
    return static_cast<std::int64_t>(std::min(keys, kFar));
  };
  std::size_t first = 0;
  std::size_t last = real_keys(b);
  if (spec_->causal != Causal::none) {
    last = std::min(last, key(position + 1));
  }
  if (spec_->window_right) {
    last = std::min(last, key(position + distance(*spec_->window_right) + 1));
  }
  if (spec_->window_left) {
    first = key(position - distance(*spec_->window_left));
  }
  return {first, std::max(first, last)};
}

MaskRule::Reach MaskRule::reach(std::size_t b, std::size_t i) const {
  return spec_->free_keys > 0 ? Reach{0, masked_keys_ + spec_->free_keys} : masked_reach(b, i);
}

bool MaskRule::has_biases() const {
  return !spec_->masks.empty() || !spec_->alibi_slopes.empty() || spec_->free_keys > 0;
}

void MaskRule::biases(std::size_t b, std::size_t h, std::size_t i, std::size_t first,
                      std::size_t count, float* out, std::size_t step) const {
  const Reach within = masked_reach(b, i);
  const std::ptrdiff_t position = static_cast<std::ptrdiff_t>(i) + offset(b);
  const std::size_t masked = first < masked_keys_ ? std::min(count, masked_keys_ - first) : 0;
  for (std::size_t n = 0; n < count; ++n) {
    const bool hidden = n < masked && (first + n < within.first || first + n >= within.last);
    out[n * step] = hidden ? kHidden : 0.0F;
  }
  if (!spec_->alibi_slopes.empty()) {
    const double slope = spec_->alibi_slopes[h];
    for (std::size_t n = 0; n < masked; ++n) {
      const auto distance = static_cast<double>(position - static_cast<std::ptrdiff_t>(first + n));
      out[n * step] += within_float_range(-slope * std::abs(distance));
    }
  }
  for (std::size_t m = 0; m < spec_->masks.size(); ++m) {
    const auto& [sb, sh, si, sj] = strides_[m];
    const std::size_t row = b * sb + h * sh + i * si + first * sj;
    if (const auto* keep = std::get_if<NdBool>(&spec_->masks[m])) {
      const std::uint8_t* flags = keep->data() + row;
      for (std::size_t n = 0; n < masked; ++n) {
        if (flags[n * sj] == 0) {
          out[n * step] = kHidden;
        }
      }
    } else {
      const float* values = std::get_if<NdArray>(&spec_->masks[m])->data() + row;
      for (std::size_t n = 0; n < masked; ++n) {
        const float value = values[n * sj];
        float& bias = out[n * step];
        bias = value == kHidden || bias == kHidden
                   ? kHidden
                   : within_float_range(static_cast<double>(bias) + static_cast<double>(value));
      }
    }
  }
}

float MaskRule::bias(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
  float one = 0;
  biases(b, h, i, j, 1, &one, 1);
  return one;
}

bool MaskRule::hides(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
  return bias(b, h, i, j) == kHidden;
}

void apply_mask(Tensor4& scores, const MaskRule& rule) {
  const auto& shape = scores.shape();
  for (std::size_t b = 0; b < shape[0]; ++b) {
    for (std::size_t h = 0; h < shape[1]; ++h) {
      for (std::size_t i = 0; i < shape[2]; ++i) {
        for (std::size_t j = 0; j < shape[3]; ++j) {
          const float bias = rule.bias(b, h, i, j);
          float& score = scores(b, h, i, j);
          score = bias == kHidden || score == kHidden
                      ? kHidden
                      : within_float_range(static_cast<double>(score) + static_cast<double>(bias));
        }
      }
    }
  }
}

}  // namespace softlookup
