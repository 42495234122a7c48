#include "faulty.hpp"

#include <algorithm>
#include <utility>

#include "attention.hpp"
#include "error.hpp"
#include "mask_array.hpp"
#include "softmax.hpp"

namespace softlookup {

namespace {

/// May query i of L attend key j?
using Visible = bool (*)(std::size_t i, std::size_t j);

NdBool painted(std::size_t length, Visible visible) {
  NdBool mask({length, length}, std::uint8_t{0});
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t j = 0; j < length; ++j) {
      mask(i, j) = visible(i, j) ? 1 : 0;
    }
  }
  return mask;
}

void zero_hidden(Tensor4& weights, const MaskRule& rule) {
  const auto shape = weights.shape();
  for (std::size_t b = 0; b < shape[0]; ++b) {
    for (std::size_t h = 0; h < shape[1]; ++h) {
      for (std::size_t i = 0; i < shape[2]; ++i) {
        for (std::size_t j = 0; j < shape[3]; ++j) {
          if (rule.hides(b, h, i, j)) {
            weights(b, h, i, j) = 0;
          }
        }
      }
    }
  }
}

Tensor4 masked_by(Mask mask, const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  AttentionOptions options;
  options.masks.push_back(std::move(mask));
  return attention(q, k, v, options).output;
}

Tensor4 masked_where(Visible visible, const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return masked_by(painted(q.shape(2), visible), q, k, v);
}

Tensor4 causal(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  AttentionOptions options;
  options.causal = Causal::square;
  return attention(q, k, v, options).output;
}

Tensor4 no_mask(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return attention(q, k, v, {}).output;
}

Tensor4 mask_after_softmax(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  Tensor4 weights = attention(q, k, v, {}).weights;
  const MaskRule rule({}, Causal::square, {q.shape(0), q.shape(1), q.shape(2), k.shape(2)});
  zero_hidden(weights, rule);
  return weighted_sum(weights, v, rule);
}

Tensor4 diagonal_plus_one(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return masked_where([](std::size_t i, std::size_t j) { return j <= i + 1; }, q, k, v);
}

Tensor4 diagonal_minus_one(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return masked_where([](std::size_t i, std::size_t j) { return j < i; }, q, k, v);
}

Tensor4 transposed_mask(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return masked_where([](std::size_t i, std::size_t j) { return j >= i; }, q, k, v);
}

/// -10000 in place of -Infinity: large scores climb over it.
Tensor4 finite_sentinel(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  NdArray bias = to_additive(causal_mask(q.shape(2), k.shape(2), Causal::square));
  for (float& value : bias) {
    value = std::max(value, -1e4F);
  }
  return masked_by(std::move(bias), q, k, v);
}

/// Causal between blocks of 4 tokens, open inside a block.
Tensor4 block_leak(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return masked_where([](std::size_t i, std::size_t j) { return j / 4 <= i / 4; }, q, k, v);
}

/// Right up to the edge of the first tile of 4 keys that holds no key of the past, open beyond it.
Tensor4 tile_leak(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return masked_where([](std::size_t i, std::size_t j) { return j <= i || j / 4 > i / 4; }, q, k,
                      v);
}

/// The sequence as a cache gets it, in chunks of 4 tokens: from the second one on without a mask.
Tensor4 cache_drops_mask(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return masked_where([](std::size_t i, std::size_t j) { return i < 4 ? j <= i : j / 4 <= i / 4; },
                      q, k, v);
}

/// In such chunks, the triangle of each laid over the oldest 4 keys, as if there were no past; its
/// own keys are open.
Tensor4 chunk_ignores_past(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return masked_where(
      [](std::size_t i, std::size_t j) { return j < 4 ? j <= i % 4 : j / 4 <= i / 4; }, q, k, v);
}

/// Right attention, then centred over the sequence: every output has seen every token.
Tensor4 sequence_mean(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  Tensor4 output = causal(q, k, v);
  const std::size_t length = output.shape(2);
  const std::size_t width = output.shape(3);
  for (std::size_t first = 0; first < output.size(); first += length * width) {
    for (std::size_t e = 0; e < width; ++e) {
      float* column = output.data() + first + e;
      double mean = 0;
      for (std::size_t i = 0; i < length; ++i) {
        mean += static_cast<double>(column[i * width]) / static_cast<double>(length);
      }
      for (std::size_t i = 0; i < length; ++i) {
        column[i * width] -= static_cast<float>(mean);
      }
    }
  }
  return output;
}

/// Cuts both into `outer` times `parts` equal parts and lets the last of each `parts` come from
/// `unmasked`.
void copy_last_part(const Tensor4& unmasked, Tensor4& masked, std::size_t outer,
                    std::size_t parts) {
  const std::size_t part = masked.size() / std::max<std::size_t>(outer * parts, 1);
  for (std::size_t o = 0; o < outer && parts > 0; ++o) {
    const std::size_t first = (o * parts + parts - 1) * part;
    std::copy_n(unmasked.data() + first, part, masked.data() + first);
  }
}

Tensor4 one_head_unmasked(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  Tensor4 output = causal(q, k, v);
  copy_last_part(no_mask(q, k, v), output, q.shape(0), q.shape(1));
  return output;
}

Tensor4 one_batch_row_unmasked(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  Tensor4 output = causal(q, k, v);
  copy_last_part(no_mask(q, k, v), output, 1, q.shape(0));
  return output;
}

struct Fault {
  const char* name;
  Tensor4 (*attend)(const Tensor4& q, const Tensor4& k, const Tensor4& v);
};

constexpr Fault kFaults[] = {
    {"no-mask", no_mask},
    {"mask-after-softmax", mask_after_softmax},
    {"diagonal-plus-one", diagonal_plus_one},
    {"diagonal-minus-one", diagonal_minus_one},
    {"transposed-mask", transposed_mask},
    {"finite-sentinel", finite_sentinel},
    {"block-leak", block_leak},
    {"tile-leak", tile_leak},
    {"cache-drops-mask", cache_drops_mask},
    {"chunk-ignores-past", chunk_ignores_past},
    {"sequence-mean", sequence_mean},
    {"one-head-unmasked", one_head_unmasked},
    {"one-batch-row-unmasked", one_batch_row_unmasked},
};

}  // namespace

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const Fault& fault : kFaults) {
    names.emplace_back(fault.name);
  }
  return names;
}

Tensor4 faulty_attention(const std::string& fault, const Tensor4& q, const Tensor4& k,
                         const Tensor4& v) {
  for (const Fault& known : kFaults) {
    if (fault == known.name) {
      return known.attend(q, k, v);
    }
  }
  fail(ErrorCode::OPTION, "fault: \"%\" is not one of the known faults", {fault});
}

void softmax_then_mask(Tensor4& scores, const MaskRule& rule, Trace* trace) {
  softmax(scores, trace);
  if (trace != nullptr) {
    trace->record("softmax", "exp / rowSum, over every key", scores);
  }
  zero_hidden(scores, rule);
  if (trace != nullptr) {
    trace->record("weights", "0 where hidden", scores);
  }
}

}  // namespace softlookup
