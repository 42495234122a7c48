#include "mask_array.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "error.hpp"

namespace softlookup {

NdBool causal_mask(std::size_t queries, std::size_t keys, Causal causal) {
  MaskSpec spec;
  spec.causal = causal;
  return visibility_mask(queries, keys, spec);
}

NdBool visibility_mask(std::size_t queries, std::size_t keys, const MaskSpec& spec) {
  const std::array<std::size_t, 2> shape{queries, keys};
  require_addressable(shape, "mask");
  const MaskRule rule(spec, {1, 1, queries, keys});
  NdBool mask = NdBool::from_shape({queries, keys});
  for (std::size_t i = 0; i < queries; ++i) {
    for (std::size_t j = 0; j < keys; ++j) {
      mask(i, j) = rule.hides(0, 0, i, j) ? 0 : 1;
    }
  }
  return mask;
}

NdBool padding_mask(const std::vector<std::size_t>& lengths, std::size_t keys, PaddingSide side) {
  const std::array<std::size_t, 4> shape{lengths.size(), 1, 1, keys};
  require_addressable(shape, "mask");
  NdBool mask({lengths.size(), 1, 1, keys}, std::uint8_t{0});
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] > keys) {
      fail(ErrorCode::OPTION, "lengths[%] = % exceeds S = %", {b, lengths[b], keys});
    }
    const std::size_t begin = side == PaddingSide::left ? keys - lengths[b] : 0;
    for (std::size_t j = begin; j < begin + lengths[b]; ++j) {
      mask(b, 0, 0, j) = 1;
    }
  }
  return mask;
}

Mask key_mask_for_scores(const Mask& mask, std::size_t batch, std::size_t keys) {
  require_valid_bias(mask, "keyMask");
  return of_array(mask, [&](auto array) -> Mask {
    const Shape expected{batch, keys};
    if (shape_of(array) != expected) {
      fail(ErrorCode::MASK_SHAPE, "keyMask %, expected [B, S] = %", {array.shape(), expected});
    }
    array.reshape(Shape{batch, 1, 1, keys});
    return array;
  });
}

Mask mask_of_head(const Mask& mask, std::size_t h) {
  return of_array(mask, [h](const auto& array) -> Mask {
    const std::size_t rank = array.dimension();
    if (rank < 3 || array.shape(rank - 3) == 1) {
      return array;
    }
    Shape shape = shape_of(array);
    shape[rank - 3] = 1;
    auto part = std::decay_t<decltype(array)>::from_shape(shape);
    const std::size_t heads = array.shape(rank - 3);
    const std::size_t size = array.shape(rank - 2) * array.shape(rank - 1);
    for (std::size_t b = 0; b < part.size() / std::max<std::size_t>(size, 1); ++b) {
      std::copy_n(array.data() + (b * heads + h) * size, size, part.data() + b * size);
    }
    return part;
  });
}

Mask combine_masks(const std::vector<Mask>& masks) {
  if (masks.empty()) {
    fail(ErrorCode::OPTION, "masks.and: at least one mask is wanted");
  }
  ScoreShape target{1, 1, 1, 1};
  std::size_t rank = 0;
  bool additive = false;
  for (const Mask& mask : masks) {
    const auto own = mask_shape(mask);
    require_valid_bias(mask);
    additive = additive || std::holds_alternative<NdArray>(mask);
    if (own.size() > target.size()) {
      fail(ErrorCode::MASK_SHAPE, "mask % has more axes than [B, H, L, S]", {own});
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
  NdArray sum = NdArray::from_shape(Shape(target.begin(), target.end()));
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
  NdBool keep = NdBool::from_shape(shape_of(sum));
  std::transform(sum.begin(), sum.end(), keep.begin(),
                 [](float bias) { return static_cast<std::uint8_t>(bias == 0.0F ? 1 : 0); });
  return keep;
}

NdArray to_additive(const Mask& mask) {
  if (const auto* bias = std::get_if<NdArray>(&mask)) {
    require_valid_bias(mask);
    return *bias;
  }
  const auto& keep = *std::get_if<NdBool>(&mask);
  NdArray bias = NdArray::from_shape(shape_of(keep));
  std::transform(keep.begin(), keep.end(), bias.begin(),
                 [](std::uint8_t flag) { return flag != 0 ? 0.0F : kHidden; });
  return bias;
}

}  // namespace softlookup
