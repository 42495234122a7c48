#include "flash.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "kernel.hpp"
#include "softmax.hpp"

namespace softlookup {

namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

constexpr std::size_t kKeyBlock = 128;  // keys that go by at once
constexpr std::size_t kTiles = 8;       // tiles of queries that share a block while it is near

/// What all rows of a call share.
struct Call {
  const Tensor4& q;
  const AttentionOptions& options;
  const MaskRule& rule;
  float scale;
  Tensor4& output;

  [[nodiscard]] std::size_t head_dim() const { return q.shape(3); }
};

/// Query i of head h in batch row b.
struct Row {
  std::size_t b, h, i;
};

/// Where a row's running softmax begins: without keys, but for a sink.
struct Start {
  float max, sum;

  Start(const Call& call, std::size_t h)
      : max(call.options.sinks.empty() ? kHidden : call.options.sinks[h]),
        sum(call.options.sinks.empty() ? 0.0F : 1.0F) {}
};

/// The readable form on the keys that a row sees: for what float32 cannot hold on the way, and for
/// infinities and NaN that are really seen.
void attend_exactly(const Call& call, const Row& row, const Panels& keys, const Panels& values) {
  const auto& [b, h, i] = row;
  const MaskRule::Reach reach = call.rule.reach(b, i);
  std::vector<std::size_t> seen;
  std::vector<float> biases;
  for (std::size_t j = reach.first; j < reach.last; ++j) {
    const float bias = call.rule.bias(b, h, i, j);
    if (bias != kHidden) {
      seen.push_back(j);
      biases.push_back(bias);
    }
  }
  Tensor4 q = Tensor4::from_shape({1, 1, 1, call.head_dim()});
  Tensor4 k = Tensor4::from_shape({1, 1, seen.size(), call.head_dim()});
  Tensor4 v = Tensor4::from_shape({1, 1, seen.size(), values.rows()});
  NdArray bias = NdArray::from_shape({1, seen.size()});
  std::copy_n(&call.q(b, h, i, 0), call.head_dim(), q.data());
  std::copy(biases.begin(), biases.end(), bias.data());
  for (std::size_t n = 0; n < seen.size(); ++n) {
    for (std::size_t e = 0; e < call.head_dim(); ++e) {
      k(0, 0, n, e) = keys(seen[n], e);
    }
    for (std::size_t c = 0; c < values.rows(); ++c) {
      v(0, 0, n, c) = values(c, seen[n]);
    }
  }
  AttentionOptions options;
  options.scale = call.scale;
  options.softcap = call.options.softcap;
  if (!call.options.sinks.empty()) {
    options.sinks = {call.options.sinks[h]};
  }
  options.masks.emplace_back(std::move(bias));
  const Tensor4 output = attention(q, k, v, options).output;
  std::copy_n(output.data(), values.rows(), &call.output(b, h, i, 0));
}

/// The queries that read one key/value head.
class Head {
 public:
  Head(const Call& call, std::size_t b, const Panels& keys, const Panels& values)
      : call_(call), b_(b), keys_(keys), values_(values), width_(round_up(values.rows())) {}

  /// `count` queries of head h from `first` on, eight side by side.
  void attend_tiles(std::size_t h, std::size_t first, std::size_t count);

  /// Few queries, of any heads, one by one.
  void attend_rows(const std::vector<Row>& rows);

 private:
  /// Eight queries on their way through the keys. queries [E, 8]; the running softmax as kernel.hpp
  /// has it; output [Ev, 8], not yet divided by the sums.
  struct Tile {
    std::size_t h, first, count;
    MaskRule::Reach reach;
    std::array<float, kPanel> max;
    std::array<float, 4 * kPanel> sums;
    std::vector<float> queries, output;
  };

  /// The same for few queries, one after the other: queries [rows, E], output [rows, Ev].
  struct Few {
    const std::vector<Row>& rows;
    MaskRule::Reach reach;
    std::vector<float> max, sums, queries, output;
  };

  void load(Tile& tile) const;
  void step(Tile& tile, std::size_t block, const Panels& values);
  void run_tiles(std::vector<Tile>& tiles, const Panels& values);
  void mask_tile(const Tile& tile, std::size_t first, std::size_t keys);

  void load(Few& few) const;
  void step(Few& few, std::size_t first, std::size_t keys, const Panels& values);
  void run_rows(Few& few, const Panels& values);
  void mask_row(const Row& row, std::size_t first, std::size_t keys, float* scores);

  /// The values with 0 for what is not finite: times the weight 0 of a hidden key, infinity or NaN
  /// would be NaN.
  const Panels& clean_values();

  /// Writes output / sum. False where it is not finite or the row saw a value that is not.
  bool store(const Row& row, const float* output, std::size_t step, float max, float sum);

  const Call& call_;
  const std::size_t b_;
  const Panels& keys_;
  const Panels& values_;
  const std::size_t width_;  // Ev, rounded up to whole panels
  std::optional<Panels> clean_;
  std::vector<std::size_t> tainted_;  // keys whose value is not finite
  std::vector<float> scores_, biases_;
};

void Head::load(Tile& tile) const {
  const Start start(call_, tile.h);
  tile.max.fill(start.max);
  tile.sums.fill(0.0F);
  std::fill_n(tile.sums.begin(), kPanel, start.sum);
  tile.output.assign(width_ * kPanel, 0.0F);
  tile.queries.assign(call_.head_dim() * kPanel, 0.0F);
  tile.reach = call_.rule.reach(b_, tile.first);
  for (std::size_t r = 0; r < tile.count; ++r) {
    const float* query = &call_.q(b_, tile.h, tile.first + r, 0);
    for (std::size_t e = 0; e < call_.head_dim(); ++e) {
      tile.queries[e * kPanel + r] = query[e] * call_.scale;
    }
    const MaskRule::Reach reach = call_.rule.reach(b_, tile.first + r);
    tile.reach.first = std::min(tile.reach.first, reach.first);
    tile.reach.last = std::max(tile.reach.last, reach.last);
  }
}

void Head::mask_tile(const Tile& tile, std::size_t first, std::size_t keys) {
  if (!call_.rule.has_biases()) {
    for (std::size_t r = 0; r < tile.count; ++r) {
      const MaskRule::Reach reach = call_.rule.reach(b_, tile.first + r);
      for (std::size_t j = first; j < std::min(reach.first, first + keys); ++j) {
        scores_[(j - first) * kPanel + r] = kHidden;
      }
      for (std::size_t j = std::max(reach.last, first); j < first + keys; ++j) {
        scores_[(j - first) * kPanel + r] = kHidden;
      }
    }
    return;
  }
  biases_.assign(keys * kPanel, 0.0F);
  for (std::size_t r = 0; r < tile.count; ++r) {
    call_.rule.biases(b_, tile.h, tile.first + r, first, keys, biases_.data() + r, kPanel);
  }
  kernel::add_biases(scores_.data(), biases_.data(), keys * kPanel);
}

void Head::step(Tile& tile, std::size_t block, const Panels& values) {
  const std::size_t first = std::max(block, tile.reach.first / kPanel * kPanel);
  const std::size_t last = std::min(block + kKeyBlock, tile.reach.last);
  if (first >= last) {
    return;
  }
  const std::size_t keys = last - first;

  // 1. S = K Q^T, scaled with Q
  kernel::multiply_lanes({keys_.at(first, 0), keys_.stride(), round_up(keys)}, call_.head_dim(),
                         tile.queries.data(), scores_.data(), false);
  if (call_.options.softcap) {
    cap_softly(scores_.data(), keys * kPanel, *call_.options.softcap);
  }
  mask_tile(tile, first, keys);

  // 2. P = exp(S - max), and what came before shrinks to the new maximum
  std::array<float, kPanel> shrink;
  kernel::soften_lanes(scores_.data(), keys, tile.max.data(), tile.sums.data(), shrink.data());
  kernel::scale_lanes(tile.output.data(), width_, shrink.data());

  // 3. O += V^T P
  kernel::multiply_lanes({values.at(0, first), values.stride(), width_}, keys, scores_.data(),
                         tile.output.data(), true);
}

void Head::run_tiles(std::vector<Tile>& tiles, const Panels& values) {
  std::size_t first = keys_.rows();
  std::size_t last = 0;
  for (Tile& tile : tiles) {
    load(tile);
    first = std::min(first, tile.reach.first);
    last = std::max(last, tile.reach.last);
  }
  for (std::size_t block = first / kKeyBlock * kKeyBlock; block < last; block += kKeyBlock) {
    for (Tile& tile : tiles) {
      step(tile, block, values);
    }
  }
}

const Panels& Head::clean_values() {
  if (!clean_) {
    clean_ = values_;
    for (std::size_t j = 0; j < values_.depth(); ++j) {
      bool tainted = false;
      for (std::size_t c = 0; c < values_.rows(); ++c) {
        if (!std::isfinite(values_(c, j))) {
          (*clean_)(c, j) = 0.0F;
          tainted = true;
        }
      }
      if (tainted) {
        tainted_.push_back(j);
      }
    }
  }
  return *clean_;
}

bool Head::store(const Row& row, const float* output, std::size_t step, float max, float sum) {
  const auto& [b, h, i] = row;
  const MaskRule::Reach reach = call_.rule.reach(b, i);
  float* out = &call_.output(b, h, i, 0);
  if (reach.first == reach.last) {
    std::fill_n(out, values_.rows(), 0.0F);
    return true;
  }
  bool finite = std::isfinite(max) && std::isfinite(sum);
  for (std::size_t c = 0; c < values_.rows(); ++c) {
    out[c] = output[c * step] / sum + 0.0F;  // never -0
    finite = finite && std::isfinite(out[c]);
  }
  const auto sees = [&](std::size_t j) {
    return j >= reach.first && j < reach.last && !call_.rule.hides(row.b, row.h, row.i, j);
  };
  return finite && std::none_of(tainted_.begin(), tainted_.end(), sees);
}

void Head::attend_tiles(std::size_t h, std::size_t first, std::size_t count) {
  scores_.resize(kKeyBlock * kPanel);
  std::vector<Tile> tiles;
  for (std::size_t done = 0; done < count; done += kPanel) {
    tiles.push_back({h, first + done, std::min(kPanel, count - done), {}, {}, {}, {}, {}});
  }
  const auto store_all = [&](auto&& otherwise) {
    bool good = true;
    for (const Tile& tile : tiles) {
      for (std::size_t r = 0; r < tile.count; ++r) {
        const auto& s = tile.sums;
        const float sum = (s[r] + s[kPanel + r]) + (s[2 * kPanel + r] + s[3 * kPanel + r]);
        const Row row{b_, h, tile.first + r};
        if (!store(row, tile.output.data() + r, kPanel, tile.max[r], sum)) {
          good = false;
          otherwise(row);
        }
      }
    }
    return good;
  };
  run_tiles(tiles, values_);
  if (store_all([](const Row&) {})) {
    return;
  }
  run_tiles(tiles, clean_values());
  store_all([&](const Row& row) { attend_exactly(call_, row, keys_, values_); });
}

void Head::load(Few& few) const {
  const std::size_t head_dim = call_.head_dim();
  few.max.clear();
  few.sums.assign(few.rows.size() * 4, 0.0F);
  few.output.assign(few.rows.size() * width_, 0.0F);
  few.queries.resize(few.rows.size() * head_dim);
  few.reach = call_.rule.reach(b_, few.rows[0].i);
  for (std::size_t r = 0; r < few.rows.size(); ++r) {
    const auto& [b, h, i] = few.rows[r];
    const Start start(call_, h);
    few.max.push_back(start.max);
    few.sums[r * 4] = start.sum;
    const float* query = &call_.q(b, h, i, 0);
    for (std::size_t e = 0; e < head_dim; ++e) {
      few.queries[r * head_dim + e] = query[e] * call_.scale;
    }
    const MaskRule::Reach reach = call_.rule.reach(b, i);
    few.reach.first = std::min(few.reach.first, reach.first);
    few.reach.last = std::max(few.reach.last, reach.last);
  }
}

void Head::mask_row(const Row& row, std::size_t first, std::size_t keys, float* scores) {
  if (!call_.rule.has_biases()) {
    const MaskRule::Reach reach = call_.rule.reach(b_, row.i);
    if (reach.first > first) {
      std::fill_n(scores, std::min(reach.first - first, keys), kHidden);
    }
    if (reach.last < first + keys) {
      std::fill(scores + (std::max(reach.last, first) - first), scores + keys, kHidden);
    }
    return;
  }
  biases_.resize(round_up(keys));
  call_.rule.biases(b_, row.h, row.i, first, keys, biases_.data(), 1);
  kernel::add_biases(scores, biases_.data(), round_up(keys));
}

void Head::step(Few& few, std::size_t first, std::size_t keys, const Panels& values) {
  const std::size_t count = few.rows.size();

  // 1. S = Q K^T, scaled with Q
  kernel::multiply_rows({keys_.at(first, 0), keys_.stride(), round_up(keys)}, call_.head_dim(),
                        few.queries.data(), call_.head_dim(), count, scores_.data(), kKeyBlock,
                        false);

  // 2. P = exp(S - max), and what came before shrinks to the new maximum
  for (std::size_t r = 0; r < count; ++r) {
    float* scores = scores_.data() + r * kKeyBlock;
    if (call_.options.softcap) {
      cap_softly(scores, keys, *call_.options.softcap);
    }
    mask_row(few.rows[r], first, keys, scores);
    float shrink = 0;
    kernel::soften_row(scores, keys, &few.max[r], &few.sums[r * 4], &shrink);
    kernel::scale_row(&few.output[r * width_], width_, shrink);
  }

  // 3. O += P V
  kernel::multiply_rows({values.at(0, first), values.stride(), width_}, keys, scores_.data(),
                        kKeyBlock, count, few.output.data(), width_, true);
}

void Head::run_rows(Few& few, const Panels& values) {
  load(few);
  const std::size_t begin = few.reach.first / kPanel * kPanel;
  for (std::size_t first = begin; first < few.reach.last;
       first = (first / kKeyBlock + 1) * kKeyBlock) {
    const std::size_t last = std::min((first / kKeyBlock + 1) * kKeyBlock, few.reach.last);
    step(few, first, last - first, values);
  }
}

void Head::attend_rows(const std::vector<Row>& rows) {
  scores_.resize(rows.size() * kKeyBlock);
  Few few{rows, {}, {}, {}, {}, {}};
  const auto store_all = [&](auto&& otherwise) {
    bool good = true;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const float* s = &few.sums[r * 4];
      if (!store(rows[r], &few.output[r * width_], 1, few.max[r], (s[0] + s[1]) + (s[2] + s[3]))) {
        good = false;
        otherwise(rows[r]);
      }
    }
    return good;
  };
  run_rows(few, values_);
  if (store_all([](const Row&) {})) {
    return;
  }
  run_rows(few, clean_values());
  store_all([&](const Row& row) { attend_exactly(call_, row, keys_, values_); });
}

}  // namespace

PackedKeyValues pack_key_values(const Tensor4& k, const Tensor4& v) {
  PackedKeyValues packed;
  const std::size_t keys = k.shape(2);
  for (std::size_t b = 0; b < k.shape(0); ++b) {
    for (std::size_t h = 0; h < k.shape(1); ++h) {
      Panels& own_keys = packed.keys.emplace_back(keys, k.shape(3));
      Panels& own_values = packed.values.emplace_back(v.shape(3), keys);
      for (std::size_t j = 0; j < keys; ++j) {
        own_keys.set_row(j, &k(b, h, j, 0));
        own_values.set_column(j, &v(b, h, j, 0));
      }
    }
  }
  return packed;
}

Tensor4 flash_attention(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                        const AttentionOptions& options) {
  require_attention_shapes(shape_of(q), shape_of(k), shape_of(v));
  return flash_attention(q, pack_key_values(k, v), v.shape(1), v.shape(3), k.shape(2), options);
}

AttentionResult attend(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                       const AttentionOptions& options, Branch branch, Trace* trace) {
  if (branch == Branch::plain || trace != nullptr) {
    return attention(q, k, v, options, trace);
  }
  AttentionResult result;
  result.output = flash_attention(q, k, v, options);
  if (branch == Branch::with_weights) {
    result.weights = attention(q, k, v, options).weights;
  }
  return result;
}

Tensor4 flash_attention(const Tensor4& q, const PackedKeyValues& packed, std::size_t kv_heads,
                        std::size_t value_dim, std::size_t keys, const AttentionOptions& options) {
  const std::size_t batch = q.shape(0);
  const std::size_t heads = q.shape(1);
  const std::size_t queries = q.shape(2);
  const MaskRule rule(options, {batch, heads, queries, keys});
  require_valid_sinks(options.sinks, heads);
  require_valid_softcap(options.softcap);
  const std::array<std::size_t, 4> shape{batch, heads, queries, value_dim};
  require_addressable(shape, "output");
  Tensor4 output = xt::empty<float>(shape);
  const Call call{q, options, rule, resolve_scale(options.scale, q.shape(3)), output};
  const std::size_t group = heads / kv_heads;
  for (std::size_t own = 0; own < batch * kv_heads && queries > 0; ++own) {
    Head head(call, own / kv_heads, packed.keys[own], packed.values[own]);
    const std::size_t first_head = own % kv_heads * group;
    if (queries < kPanel) {
      std::vector<Row> rows;
      for (std::size_t row = 0; row < group * queries; ++row) {
        rows.push_back({own / kv_heads, first_head + row / queries, row % queries});
      }
      head.attend_rows(rows);
      continue;
    }
    for (std::size_t h = first_head; h < first_head + group; ++h) {
      for (std::size_t first = 0; first < queries; first += kTiles * kPanel) {
        head.attend_tiles(h, first, std::min(kTiles * kPanel, queries - first));
      }
    }
  }
  return output;
}

}  // namespace softlookup
