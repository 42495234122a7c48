#include "mask.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "error.hpp"
#include "float_range.hpp"

namespace softlookup {

namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

Shape mask_shape(const Mask& mask) {
  return std::visit([](const auto& array) { return shape_of(array); }, mask);
}

void require_valid_bias(const Mask& mask) {
  const auto* bias = std::get_if<NdArray>(&mask);
  if (bias == nullptr) {
    return;
  }
  for (const float value : bias->storage()) {
    if (std::isnan(value) || value == std::numeric_limits<float>::infinity()) {
      throw Error(ErrorCode::MASK_VALUE, "mask " + shape_text(bias->shape()) +
                                             ": an additive mask may hold finite numbers and "
                                             "-Infinity, not NaN or +Infinity");
    }
  }
}

/// Strides of `own` along `target`, lined up at the last axis, 0 where an axis of 1 is repeated.
std::array<std::size_t, 4> broadcast_strides(const Shape& own, const ScoreShape& target) {
  const auto refuse = [&] {
    throw Error(
        ErrorCode::MASK_SHAPE,
        "mask " + shape_text(own) + " does not broadcast to [B, H, L, S] = " + shape_text(target));
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

float bias_at(const Mask& mask, std::size_t offset) {
  if (const auto* keep = std::get_if<NdBool>(&mask)) {
    return keep->storage()[offset] != 0 ? 0.0F : kHidden;
  }
  return std::get<NdArray>(mask).storage()[offset];
}

std::size_t visible_end(std::size_t i, std::size_t queries, std::size_t keys, Causal causal) {
  switch (causal) {
    case Causal::none:
      return keys;
    case Causal::square:
    case Causal::top_left:
      return std::min(i + 1, keys);
    case Causal::bottom_right:
      return i + 1 + keys > queries ? i + 1 + keys - queries : 0;
  }
  return keys;
}

void require_alignment(std::size_t queries, std::size_t keys, Causal causal) {
  if (causal == Causal::square && queries != keys) {
    throw Error(ErrorCode::AMBIGUOUS_CAUSAL,
                "causal: L = " + std::to_string(queries) + " and S = " + std::to_string(keys) +
                    " differ; name the alignment, \"top-left\" or \"bottom-right\"");
  }
}

}  // namespace

MaskRule::MaskRule(std::vector<Mask> masks, Causal causal, const ScoreShape& shape,
                   std::size_t free_keys)
    : causal_(causal), queries_(shape[2]), masked_keys_(shape[3] - free_keys) {
  require_alignment(queries_, masked_keys_, causal_);
  const ScoreShape target{shape[0], shape[1], queries_, masked_keys_};
  masks_.reserve(masks.size());
  for (Mask& mask : masks) {
    const auto strides = broadcast_strides(mask_shape(mask), target);
    require_valid_bias(mask);
    masks_.push_back({std::move(mask), strides});
  }
}

std::size_t MaskRule::causal_end(std::size_t i) const {
  return visible_end(i, queries_, masked_keys_, causal_);
}

float MaskRule::bias(std::size_t b, std::size_t h, std::size_t i, std::size_t j) const {
  if (j >= masked_keys_) {
    return 0.0F;
  }
  if (j >= causal_end(i)) {
    return kHidden;
  }
  float sum = 0.0F;
  for (const Broadcast& entry : masks_) {
    const auto& [sb, sh, si, sj] = entry.strides;
    const float value = bias_at(entry.mask, b * sb + h * sh + i * si + j * sj);
    if (value == kHidden) {
      return kHidden;
    }
    sum = within_float_range(static_cast<double>(sum) + static_cast<double>(value));
  }
  return sum;
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
          score = bias == kHidden
                      ? kHidden
                      : within_float_range(static_cast<double>(score) + static_cast<double>(bias));
        }
      }
    }
  }
}

NdBool causal_mask(std::size_t queries, std::size_t keys, Causal causal) {
  require_alignment(queries, keys, causal);
  const std::array<std::size_t, 2> shape{queries, keys};
  require_addressable(shape, "mask");
  NdBool mask = xt::zeros<std::uint8_t>(shape);  // [L, S]
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t j = 0; j < visible_end(i, queries, keys, causal); ++j) {
      mask(i, j) = 1;
    }
  }
  return mask;
}

NdBool padding_mask(const std::vector<std::size_t>& lengths, std::size_t keys, PaddingSide side) {
  const std::array<std::size_t, 4> shape{lengths.size(), 1, 1, keys};
  require_addressable(shape, "mask");
  NdBool mask = xt::zeros<std::uint8_t>(shape);
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] > keys) {
      throw Error(ErrorCode::OPTION, "lengths[" + std::to_string(b) +
                                         "] = " + std::to_string(lengths[b]) +
                                         " exceeds S = " + std::to_string(keys));
    }
    const std::size_t begin = side == PaddingSide::left ? keys - lengths[b] : 0;
    for (std::size_t j = begin; j < begin + lengths[b]; ++j) {
      mask(b, 0, 0, j) = 1;
    }
  }
  return mask;
}

Mask combine_masks(const std::vector<Mask>& masks) {
  if (masks.empty()) {
    throw Error(ErrorCode::OPTION, "masks.and: at least one mask is wanted");
  }
  ScoreShape target{1, 1, 1, 1};
  std::size_t rank = 0;
  bool additive = false;
  for (const Mask& mask : masks) {
    const auto own = mask_shape(mask);
    require_valid_bias(mask);
    additive = additive || std::holds_alternative<NdArray>(mask);
    if (own.size() > target.size()) {
      throw Error(ErrorCode::MASK_SHAPE,
                  "mask " + shape_text(own) + " has more axes than [B, H, L, S]");
    }
    rank = std::max(rank, own.size());
    for (std::size_t back = 1; back <= own.size(); ++back) {
      std::size_t& size = target[target.size() - back];
      if (own[own.size() - back] != 1) {
        size = own[own.size() - back];
      }
    }
  }
  require_addressable(target, "mask");
  const MaskRule rule(masks, Causal::none, target);
  NdArray sum = xt::zeros<float>(Shape(target.begin(), target.end()));
  for (std::size_t b = 0; b < target[0]; ++b) {
    for (std::size_t h = 0; h < target[1]; ++h) {
      for (std::size_t i = 0; i < target[2]; ++i) {
        for (std::size_t j = 0; j < target[3]; ++j) {
          sum(b, h, i, j) = rule.bias(b, h, i, j);
        }
      }
    }
  }
  sum.reshape(Shape(target.end() - static_cast<std::ptrdiff_t>(rank), target.end()));
  if (additive) {
    return sum;
  }
  return NdBool(xt::cast<std::uint8_t>(xt::equal(sum, 0.0F)));
}

NdArray to_additive(const Mask& mask) {
  if (const auto* bias = std::get_if<NdArray>(&mask)) {
    require_valid_bias(mask);
    return *bias;
  }
  return xt::where(xt::equal(std::get<NdBool>(mask), 0), kHidden, 0.0F);
}

}  // namespace softlookup
