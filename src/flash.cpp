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
  const View4<const float>& q;
  const AttentionOptions& options;
  const MaskRule& rule;
  float scale;
  const View4<float>& output;

  [[nodiscard]] std::size_t head_dim() const { return q.shape[3]; }
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
  std::copy_n(call.q.row(b, h, i), call.head_dim(), q.data());
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
  std::copy_n(output.data(), values.rows(), call.output.row(b, h, i));
}

/// Where number `item` of row `row` lies.
struct Spread {
  std::size_t row_step, item_step;

  [[nodiscard]] std::size_t operator()(std::size_t row, std::size_t item) const {
    return row * row_step + item * item_step;
  }
};

/// Rows on their way through the keys: eight of one head side by side, or few of any heads one
/// after the other. The running softmax is as kernel.hpp has it.
struct Batch {
  std::vector<Row> rows;
  bool side_by_side;
  Spread queries_at, scores_at, sums_at, output_at;
  MaskRule::Reach reach{};  // of all its rows together

 private:
  std::vector<float> numbers_;  // all that follow in one piece: small calls are about memory

 public:
  float *queries, *max, *sums, *shrink;
  float* output;  // not yet divided by the sums
  std::size_t output_size;

  Batch(std::vector<Row> rows_in, bool side_by_side_in, std::size_t head_dim, std::size_t width)
      : rows(std::move(rows_in)),
        side_by_side(side_by_side_in),
        queries_at(spread(head_dim)),
        scores_at(spread(kKeyBlock)),
        sums_at(spread(4)),
        output_at(spread(width)),
        numbers_(zeros(room() * (head_dim + 1 + 4 + 1 + width))),
        queries(numbers_.data()),
        max(queries + room() * head_dim),
        sums(max + room()),
        shrink(sums + room() * 4),
        output(shrink + room()),
        output_size(room() * width) {}

  /// Rows that there is room for.
  [[nodiscard]] std::size_t room() const { return side_by_side ? kPanel : rows.size(); }

 private:
  [[nodiscard]] Spread spread(std::size_t items) const {
    return side_by_side ? Spread{1, kPanel} : Spread{items, 1};
  }
};

/// The queries that read one key/value head.
class Head {
 public:
  Head(const Call& call, std::size_t b, const Panels& keys, const Panels& values)
      : call_(call), b_(b), keys_(keys), values_(values), width_(round_up(values.rows())) {}

  /// `count` queries of head h from `first` on, eight side by side.
  void attend_tiles(std::size_t h, std::size_t first, std::size_t count);

  /// Few queries, of any heads.
  void attend_rows(std::vector<Row> rows);

 private:
  void attend(std::vector<Batch>& batches);
  void begin(Batch& batch) const;
  void run(std::vector<Batch>& batches, const Panels& values);
  void step(Batch& batch, std::size_t block, const Panels& values);
  void mask(const Batch& batch, std::size_t first, std::size_t keys);

  /// Writes every row's output / sum. `otherwise` gets the rows where that is not finite, and those
  /// that saw a value which is not.
  template <class Otherwise>
  bool store(const std::vector<Batch>& batches, Otherwise&& otherwise) const;
  [[nodiscard]] bool store(const Batch& batch, std::size_t r) const;

  /// The values with 0 for what is not finite: times the weight 0 of a hidden key, infinity or NaN
  /// would be NaN.
  const Panels& clean_values();

  const Call& call_;
  const std::size_t b_;
  const Panels& keys_;
  const Panels& values_;
  const std::size_t width_;  // Ev, rounded up to whole panels
  std::optional<Panels> clean_;
  std::vector<std::size_t> tainted_;    // keys whose value is not finite
  std::vector<float> scores_, biases_;  // of the batch that is at work
};

void Head::begin(Batch& batch) const {
  std::fill_n(batch.sums, batch.room() * 4, 0.0F);
  std::fill_n(batch.output, batch.output_size, 0.0F);
  batch.reach = call_.rule.reach(b_, batch.rows[0].i);
  for (std::size_t r = 0; r < batch.rows.size(); ++r) {
    const Row& row = batch.rows[r];
    const Start start(call_, row.h);
    batch.max[r] = start.max;
    batch.sums[batch.sums_at(r, 0)] = start.sum;
    spread(call_.q.row(row.b, row.h, row.i), call_.head_dim(), call_.scale,
           batch.queries + batch.queries_at(r, 0), batch.queries_at.item_step);
    const MaskRule::Reach reach = call_.rule.reach(b_, row.i);
    batch.reach.first = std::min(batch.reach.first, reach.first);
    batch.reach.last = std::max(batch.reach.last, reach.last);
  }
}

void Head::mask(const Batch& batch, std::size_t first, std::size_t keys) {
  const Spread& at = batch.scores_at;
  const bool biased = call_.rule.has_biases();
  if (biased) {
    biases_ = zeros(scores_.size());
  }
  for (std::size_t r = 0; r < batch.rows.size(); ++r) {
    const Row& row = batch.rows[r];
    if (biased) {
      call_.rule.biases(b_, row.h, row.i, first, keys, &biases_[at(r, 0)], at.item_step);
      continue;
    }
    const MaskRule::Reach reach = call_.rule.reach(b_, row.i);
    for (std::size_t j = first; j < std::min(reach.first, first + keys); ++j) {
      scores_[at(r, j - first)] = kHidden;
    }
    for (std::size_t j = std::max(reach.last, first); j < first + keys; ++j) {
      scores_[at(r, j - first)] = kHidden;
    }
  }
  if (biased) {
    kernel::add_biases(scores_.data(), biases_.data(), scores_.size());
  }
}

void Head::step(Batch& batch, std::size_t block, const Panels& values) {
  const std::size_t first = std::max(block, batch.reach.first / kPanel * kPanel);
  const std::size_t last = std::min(block + kKeyBlock, batch.reach.last);
  if (first >= last) {
    return;
  }
  const std::size_t keys = last - first;
  const std::size_t count = batch.rows.size();
  const std::size_t head_dim = call_.head_dim();
  const kernel::PanelsOf k{keys_.at(first, 0), keys_.stride(), round_up(keys)};
  const kernel::PanelsOf v{values.at(0, first), values.stride(), width_};
  if (scores_.empty()) {
    scores_ = zeros(batch.room() * kKeyBlock);
  }
  float* const scores = scores_.data();

  // 1. S = Q K^T, scaled with Q
  if (batch.side_by_side) {
    kernel::multiply_lanes(k, head_dim, batch.queries, scores, false);
  } else {
    kernel::multiply_rows(k, head_dim, batch.queries, head_dim, count, scores, kKeyBlock, false);
  }
  if (call_.options.softcap) {
    cap_softly(scores, scores_.size(), *call_.options.softcap);
  }
  mask(batch, first, keys);

  // 2. P = exp(S - max), and what came before shrinks to the new maximum
  // 3. O += P V
  if (batch.side_by_side) {
    kernel::soften_lanes(scores, keys, batch.max, batch.sums, batch.shrink);
    kernel::scale_lanes(batch.output, width_, batch.shrink);
    kernel::multiply_lanes(v, keys, scores, batch.output, true);
  } else {
    for (std::size_t r = 0; r < count; ++r) {
      kernel::soften_row(scores + r * kKeyBlock, keys, &batch.max[r], &batch.sums[r * 4],
                         &batch.shrink[r]);
      kernel::scale_row(&batch.output[r * width_], width_, batch.shrink[r]);
    }
    kernel::multiply_rows(v, keys, scores, kKeyBlock, count, batch.output, width_, true);
  }
}

void Head::run(std::vector<Batch>& batches, const Panels& values) {
  std::size_t first = keys_.rows();
  std::size_t last = 0;
  for (Batch& batch : batches) {
    begin(batch);
    first = std::min(first, batch.reach.first);
    last = std::max(last, batch.reach.last);
  }
  for (std::size_t block = first / kKeyBlock * kKeyBlock; block < last; block += kKeyBlock) {
    for (Batch& batch : batches) {
      step(batch, block, values);
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

bool Head::store(const Batch& batch, std::size_t r) const {
  const Row& row = batch.rows[r];
  const MaskRule::Reach reach = call_.rule.reach(row.b, row.i);
  float* out = call_.output.row(row.b, row.h, row.i);
  if (reach.first == reach.last) {
    std::fill_n(out, values_.rows(), 0.0F);
    return true;
  }
  const auto part = [&](std::size_t s) { return batch.sums[batch.sums_at(r, s)]; };
  const float sum = (part(0) + part(1)) + (part(2) + part(3));
  const bool finite = gather(batch.output + batch.output_at(r, 0), batch.output_at.item_step,
                             values_.rows(), sum, out);
  return finite && std::isfinite(batch.max[r]) && std::isfinite(sum) &&
         std::none_of(tainted_.begin(), tainted_.end(), [&](std::size_t j) {
           return j >= reach.first && j < reach.last && !call_.rule.hides(row.b, row.h, row.i, j);
         });
}

template <class Otherwise>
bool Head::store(const std::vector<Batch>& batches, Otherwise&& otherwise) const {
  bool good = true;
  for (const Batch& batch : batches) {
    for (std::size_t r = 0; r < batch.rows.size(); ++r) {
      if (!store(batch, r)) {
        good = false;
        otherwise(batch.rows[r]);
      }
    }
  }
  return good;
}

void Head::attend(std::vector<Batch>& batches) {
  run(batches, values_);
  if (store(batches, [](const Row&) {})) {
    return;
  }
  const Panels& clean = clean_values();
  if (!tainted_.empty()) {
    run(batches, clean);
  }
  store(batches, [&](const Row& row) { attend_exactly(call_, row, keys_, values_); });
}

void Head::attend_tiles(std::size_t h, std::size_t first, std::size_t count) {
  std::vector<Batch> tiles;
  for (std::size_t done = 0; done < count; done += kPanel) {
    std::vector<Row> rows;
    for (std::size_t i = done; i < std::min(done + kPanel, count); ++i) {
      rows.push_back({b_, h, first + i});
    }
    tiles.emplace_back(std::move(rows), true, call_.head_dim(), width_);
  }
  attend(tiles);
}

void Head::attend_rows(std::vector<Row> rows) {
  std::vector<Batch> one;
  one.emplace_back(std::move(rows), false, call_.head_dim(), width_);
  attend(one);
}

void attend_packed(const View4<const float>& q, const PackedKeyValues& packed, std::size_t kv_heads,
                   std::size_t keys, const AttentionOptions& options, const View4<float>& output) {
  const auto [batch, heads, queries, head_dim] = q.shape;
  const MaskRule rule(options, {batch, heads, queries, keys});
  require_valid_sinks(options.sinks, heads);
  require_valid_softcap(options.softcap);
  const Call call{q, options, rule, resolve_scale(options.scale, head_dim), output};
  const std::size_t group = heads / kv_heads;
  for (std::size_t own = 0; own < batch * kv_heads && queries > 0; ++own) {
    Head head(call, own / kv_heads, packed.keys[own], packed.values[own]);
    const std::size_t first_head = own % kv_heads * group;
    if (queries < kPanel) {
      std::vector<Row> rows;
      rows.reserve(group * queries);
      for (std::size_t row = 0; row < group * queries; ++row) {
        rows.push_back({own / kv_heads, first_head + row / queries, row % queries});
      }
      head.attend_rows(std::move(rows));
      continue;
    }
    for (std::size_t h = first_head; h < first_head + group; ++h) {
      for (std::size_t first = 0; first < queries; first += kTiles * kPanel) {
        head.attend_tiles(h, first, std::min(kTiles * kPanel, queries - first));
      }
    }
  }
}

Tensor4 output_for(const Tensor4& q, std::size_t value_dim) {
  const std::array<std::size_t, 4> shape{q.shape(0), q.shape(1), q.shape(2), value_dim};
  require_addressable(shape, "output");
  return Tensor4::from_shape(shape);
}

}  // namespace

PackedKeyValues pack_key_values(const View4<const float>& k, const View4<const float>& v) {
  const auto [batch, kv_heads, keys, head_dim] = k.shape;
  PackedKeyValues packed;
  packed.keys.reserve(batch * kv_heads);
  packed.values.reserve(batch * kv_heads);
  for (std::size_t own = 0; own < batch * kv_heads; ++own) {
    Panels& own_keys = packed.keys.emplace_back(keys, head_dim);
    Panels& own_values = packed.values.emplace_back(v.shape[3], keys);
    for (std::size_t j = 0; j < keys; ++j) {
      own_keys.set_row(j, k.row(0, own, j));
      own_values.set_column(j, v.row(0, own, j));
    }
  }
  return packed;
}

void flash_attention(const View4<const float>& q, const View4<const float>& k,
                     const View4<const float>& v, const AttentionOptions& options,
                     const View4<float>& output) {
  require_attention_shapes(shape_of(q), shape_of(k), shape_of(v));
  attend_packed(q, pack_key_values(k, v), k.shape[1], k.shape[2], options, output);
}

Tensor4 flash_attention(const Tensor4& q, const Tensor4& k, const Tensor4& v,
                        const AttentionOptions& options) {
  Tensor4 output = output_for(q, v.shape(3));
  flash_attention(view_of(q), view_of(k), view_of(v), options, view_of(output));
  return output;
}

Tensor4 flash_attention(const Tensor4& q, const PackedKeyValues& packed, std::size_t kv_heads,
                        std::size_t value_dim, std::size_t keys, const AttentionOptions& options) {
  Tensor4 output = output_for(q, value_dim);
  attend_packed(view_of(q), packed, kv_heads, keys, options, view_of(output));
  return output;
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

}  // namespace softlookup
