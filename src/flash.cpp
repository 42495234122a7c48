#include "flash.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "attention_checks.hpp"
#include "exact_row.hpp"
#include "kernel.hpp"
#include "softmax.hpp"

namespace softlookup {

namespace {

constexpr std::size_t kKeyBlock = 128;  // keys of one step of the running softmax
constexpr std::size_t kBlocks = 4;  // of them few rows take at once: memory is read in long runs
constexpr std::size_t kTiles = 8;   // tiles of queries that share a block while it is near

/// Floats for the length of a call, of which a small one takes none from the heap.
class Scratch {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): whoever takes some fills it
  explicit Scratch(std::size_t count)
      : far_(count > kNear ? new float[count] : nullptr), next_(far_ ? far_.get() : near_.data()) {}

  float* take(std::size_t count) { return std::exchange(next_, next_ + count); }

 private:
  static constexpr std::size_t kNear = 2048;

  std::array<float, kNear> near_;
  std::unique_ptr<float[]> far_;
  float* next_;
};

/// Where number `item` of row `row` lies.
struct Spread {
  std::size_t row_step, item_step;

  std::size_t operator()(std::size_t row, std::size_t item) const {
    return row * row_step + item * item_step;
  }
};

/// What all heads of a call share.
struct Call {
  const View4<const float>& q;
  const AttentionOptions& options;
  const View4<float>& output;
  const MaskRule rule;
  const float scale;
  const std::size_t group;  // query heads that read one key/value head
  const std::size_t width;  // Ev, rounded up to whole panels
  const bool biased;
  const bool side_by_side;         // how the rows of a tile lie
  const std::size_t keys_at_once;  // whole blocks of a running softmax, or all keys there are

  Call(const View4<const float>& q_in, const std::array<std::size_t, 4>& k_shape,
       const AttentionOptions& options_in, const View4<float>& output_in)
      : q(q_in),
        options(options_in),
        output(output_in),
        rule(options, {q.shape[0], q.shape[1], q.shape[2], k_shape[2]}),
        scale(resolve_scale(options.scale, q.shape[3])),
        group(q.shape[1] / k_shape[1]),
        width(round_up(output.shape[3])),
        biased(rule.has_biases()),
        side_by_side(q.shape[2] >= kPanel),
        keys_at_once(std::clamp(round_up(k_shape[2]), kPanel,
                                side_by_side ? kKeyBlock : kBlocks * kKeyBlock)) {
    require_valid_sinks(options.sinks, q.shape[1]);
    require_valid_softcap(options.softcap);
  }

  [[nodiscard]] std::size_t queries() const { return q.shape[2]; }
  [[nodiscard]] std::size_t head_dim() const { return q.shape[3]; }

  /// Rows that are dealt out to tiles together: a head's, or those of all heads of a group where a
  /// head has few.
  [[nodiscard]] std::size_t rows() const { return side_by_side ? queries() : group * queries(); }

  [[nodiscard]] std::size_t tiles() const { return std::min(kTiles, round_up(rows()) / kPanel); }

  [[nodiscard]] Spread spread(std::size_t items) const {
    return side_by_side ? Spread{1, kPanel} : Spread{items, 1};
  }
};

/// Eight rows or fewer on their way through the keys: queries of one head side by side, or few of
/// any heads one after the other. The running softmax is as kernel.hpp has it.
struct Tile {
  struct Row {
    std::size_t head, query;
    float* output;
    MaskRule::Reach reach;
  };

  std::array<Row, kPanel> rows;
  std::size_t count;          // of them
  MaskRule::Reach some, all;  // keys that some row reaches, that all rows reach
  float *queries, *max, *sums, *shrink;
  float* output;  // not yet divided by the sums

  static std::size_t floats(const Call& call) {
    return kPanel * (call.head_dim() + 1 + 4 + kBlocks + call.width);
  }
};

/// The queries that read one key/value head.
class Head {
 public:
  using ConstPanels = PanelsView<const float>;

  /// Floats of scratch that it takes.
  static std::size_t floats(const Call& call) {
    return call.tiles() * Tile::floats(call) + (call.biased ? 2 : 1) * kPanel * call.keys_at_once;
  }

  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): a tile is filled as it gets rows
  Head(const Call& call, Scratch& scratch)
      : call_(call),
        queries_at_(call.spread(call.head_dim())),
        scores_at_(call.spread(call.keys_at_once)),
        sums_at_(call.spread(4)),
        output_at_(call.spread(call.width)),
        scores_(scratch.take(kPanel * call.keys_at_once)),
        biases_(call.biased ? scratch.take(kPanel * call.keys_at_once) : nullptr) {
    for (std::size_t t = 0; t < call.tiles(); ++t) {
      Tile& tile = tiles_[t];
      tile.queries = scratch.take(kPanel * call.head_dim());
      tile.max = scratch.take(kPanel);
      tile.sums = scratch.take(kPanel * 4);
      tile.shrink = scratch.take(kPanel * kBlocks);
      tile.output = scratch.take(kPanel * call.width);
    }
  }

  /// Key/value head h of batch row b: keys [S, E], values [Ev, S].
  void attend(std::size_t b, std::size_t h, const ConstPanels& keys, const ConstPanels& values);

 private:
  void attend_rows(std::size_t head, const ConstPanels& keys, const ConstPanels& values);
  void begin(Tile& tile) const;
  void run(const ConstPanels& keys, const ConstPanels& values);
  void step(Tile& tile, std::size_t block, const ConstPanels& keys, const ConstPanels& values);
  void mask(const Tile& tile, std::size_t first, std::size_t keys);

  /// The blocks that the keys first ... last - 1 lie in: number, beginning behind `first` and size
  /// of each.
  template <class Each>
  static void for_each_block(std::size_t first, std::size_t last, Each&& each) {
    std::size_t next = 0;
    for (std::size_t own = 0, key = first; key < last; key = next, ++own) {
      next = std::min((key / kKeyBlock + 1) * kKeyBlock, last);
      each(own, key - first, next - key);
    }
  }

  /// The stretches of scores that hold `keys` keys, in whole panels: start and size of each.
  template <class Each>
  void for_each_piece(const Tile& tile, std::size_t keys, Each&& each) const {
    if (call_.side_by_side) {
      each(0, kPanel * keys);
      return;
    }
    for (std::size_t r = 0; r < tile.count; ++r) {
      each(r * call_.keys_at_once, round_up(keys));
    }
  }

  /// Writes every row's output / sum. `otherwise` gets the rows where that is not finite, and those
  /// that saw a value which is not.
  template <class Otherwise>
  bool store(Otherwise&& otherwise) const;
  /// Puts rows that lie side by side where they belong, not yet divided.
  void write(const Tile& tile) const;
  /// Writes row r's output / sum. Whether that is its answer.
  [[nodiscard]] bool settle(const Tile& tile, std::size_t r) const;

  /// The values with 0 for what is not finite: times the weight 0 of a hidden key, infinity or NaN
  /// would be NaN.
  ConstPanels clean(const ConstPanels& values);

  [[nodiscard]] const float* query_at(const Tile::Row& row) const {
    return call_.q.row(b_, row.head, row.query);
  }

  /// Eight queries of one head.
  [[nodiscard]] bool whole(const Tile& tile) const {
    return call_.side_by_side && tile.count == kPanel;
  }

  const Call& call_;
  const Spread queries_at_, scores_at_, sums_at_, output_at_;
  std::size_t b_ = 0;
  float *scores_, *biases_;  // of the tile that is at work
  std::array<Tile, kTiles> tiles_;
  std::size_t active_ = 0;            // tiles that have rows
  std::vector<float> clean_;          // once it was needed
  std::vector<std::size_t> tainted_;  // keys whose value is not finite
};

void Head::begin(Tile& tile) const {
  // Side by side, rows that are not there are computed as well.
  const std::size_t rows = call_.side_by_side ? kPanel : tile.count;
  if (tile.count < rows) {
    std::fill_n(tile.queries, rows * call_.head_dim(), 0.0F);
    std::fill_n(tile.max, rows, 0.0F);
  }
  std::fill_n(tile.sums, rows * 4, 0.0F);
  std::fill_n(tile.output, rows * call_.width, 0.0F);
  tile.some = {std::numeric_limits<std::size_t>::max(), 0};
  tile.all = {0, std::numeric_limits<std::size_t>::max()};
  if (whole(tile)) {
    kernel::rows_to_lanes(query_at(tile.rows[0]), call_.q.strides[2], call_.head_dim(), call_.scale,
                          tile.queries);
  }
  for (std::size_t r = 0; r < tile.count; ++r) {
    Tile::Row& row = tile.rows[r];
    const bool sink = !call_.options.sinks.empty();
    tile.max[r] = sink ? call_.options.sinks[row.head] : kHidden;
    tile.sums[sums_at_(r, 0)] = sink ? 1.0F : 0.0F;
    if (!whole(tile)) {
      spread(query_at(row), call_.head_dim(), call_.scale, tile.queries + queries_at_(r, 0),
             queries_at_.item_step);
    }
    const MaskRule::Reach reach = call_.rule.reach(b_, row.query);
    row.reach = reach;
    tile.some = {std::min(tile.some.first, reach.first), std::max(tile.some.last, reach.last)};
    tile.all = {std::max(tile.all.first, reach.first), std::min(tile.all.last, reach.last)};
  }
}

void Head::mask(const Tile& tile, std::size_t first, std::size_t keys) {
  if (call_.biased) {
    std::fill_n(biases_, kPanel * call_.keys_at_once, 0.0F);
    for (std::size_t r = 0; r < tile.count; ++r) {
      call_.rule.biases(b_, tile.rows[r].head, tile.rows[r].query, first, keys,
                        biases_ + scores_at_(r, 0), scores_at_.item_step);
    }
    for_each_piece(tile, keys, [&](std::size_t start, std::size_t size) {
      kernel::add_biases(scores_ + start, biases_ + start, size);
    });
    return;
  }
  if (tile.all.first <= first && first + keys <= tile.all.last) {
    return;
  }
  for (std::size_t r = 0; r < tile.count; ++r) {
    const MaskRule::Reach& reach = tile.rows[r].reach;
    for (std::size_t j = first; j < std::min(reach.first, first + keys); ++j) {
      scores_[scores_at_(r, j - first)] = kHidden;
    }
    for (std::size_t j = std::max(reach.last, first); j < first + keys; ++j) {
      scores_[scores_at_(r, j - first)] = kHidden;
    }
  }
}

void Head::step(Tile& tile, std::size_t block, const ConstPanels& keys, const ConstPanels& values) {
  const std::size_t first = std::max(block, tile.some.first / kPanel * kPanel);
  const std::size_t last = std::min(block + call_.keys_at_once, tile.some.last);
  if (first >= last) {
    return;
  }
  const std::size_t count = last - first;
  const std::size_t head_dim = call_.head_dim();
  const kernel::PanelsOf k{keys.at(first, 0), keys.stride(), round_up(count)};
  const kernel::PanelsOf v{values.at(0, first), values.stride(), call_.width};

  // 1. S = Q K^T, scaled with Q
  if (call_.side_by_side) {
    kernel::multiply_lanes(k, head_dim, tile.queries, scores_, nullptr);
  } else {
    kernel::multiply_rows(k, head_dim, tile.queries, head_dim, tile.count, scores_,
                          call_.keys_at_once, false);
  }
  if (call_.options.softcap) {
    for_each_piece(tile, count, [&](std::size_t start, std::size_t size) {
      cap_softly(scores_ + start, size, *call_.options.softcap);
    });
  }
  mask(tile, first, count);

  // 2. P = exp(S - max), and what came before shrinks to the new maximum
  // 3. O += P V
  if (call_.side_by_side) {
    kernel::soften_lanes(scores_, count, tile.max, tile.sums, tile.shrink);
    kernel::multiply_lanes(v, count, scores_, tile.output, tile.shrink);
  } else {
    for_each_block(first, last, [&](std::size_t own, std::size_t start, std::size_t size) {
      for (std::size_t r = 0; r < tile.count; ++r) {
        kernel::soften_row(scores_ + r * call_.keys_at_once + start, size, tile.max + r,
                           tile.sums + r * 4, tile.shrink + own * kPanel + r);
      }
    });
    // As many panels of V at once as multiply_rows reads side by side.
    const std::size_t step = tile.count % 4 == 0 ? kPanel : 4 * kPanel;
    for (std::size_t c = 0; c < call_.width; c += step) {
      const std::size_t columns = std::min(step, call_.width - c);
      for_each_block(first, last, [&](std::size_t own, std::size_t start, std::size_t size) {
        float* const output = tile.output + c;
        for (std::size_t r = 0; r < tile.count; ++r) {
          kernel::scale_row(output + r * call_.width, columns, tile.shrink[own * kPanel + r]);
        }
        kernel::multiply_rows({v.data + c * values.depth() + start * kPanel, v.stride, columns},
                              size, scores_ + start, call_.keys_at_once, tile.count, output,
                              call_.width, true);
      });
    }
  }
}

void Head::run(const ConstPanels& keys, const ConstPanels& values) {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;
  for (std::size_t t = 0; t < active_; ++t) {
    begin(tiles_[t]);
    first = std::min(first, tiles_[t].some.first);
    last = std::max(last, tiles_[t].some.last);
  }
  for (std::size_t block = first / call_.keys_at_once * call_.keys_at_once; block < last;
       block += call_.keys_at_once) {
    for (std::size_t t = 0; t < active_; ++t) {
      step(tiles_[t], block, keys, values);
    }
  }
}

Head::ConstPanels Head::clean(const ConstPanels& values) {
  if (clean_.empty()) {
    clean_.assign(values.at(0, 0), values.at(0, 0) + values.size());
    const PanelsView<float> own(clean_.data(), values.rows(), values.depth());
    for (std::size_t j = 0; j < values.depth(); ++j) {
      bool tainted = false;
      for (std::size_t c = 0; c < values.rows(); ++c) {
        if (!std::isfinite(own(c, j))) {
          own(c, j) = 0.0F;
          tainted = true;
        }
      }
      if (tainted) {
        tainted_.push_back(j);
      }
    }
  }
  return {clean_.data(), values.rows(), values.depth()};
}

void Head::write(const Tile& tile) const {
  const std::size_t value_dim = call_.output.shape[3];
  if (whole(tile)) {
    kernel::lanes_to_rows(tile.output, value_dim, tile.rows[0].output, call_.output.strides[2]);
    return;
  }
  for (std::size_t r = 0; r < tile.count; ++r) {
    for (std::size_t c = 0; c < value_dim; ++c) {
      tile.rows[r].output[c] = tile.output[output_at_(r, c)];
    }
  }
}

bool Head::settle(const Tile& tile, std::size_t r) const {
  const auto& [head, query, output, reach] = tile.rows[r];
  const std::size_t value_dim = call_.output.shape[3];
  if (reach.first == reach.last) {
    std::fill_n(output, value_dim, 0.0F);
    return true;
  }
  const auto part = [&](std::size_t s) { return tile.sums[sums_at_(r, s)]; };
  const float sum = (part(0) + part(1)) + (part(2) + part(3));
  const float* const from = call_.side_by_side ? output : tile.output + r * call_.width;
  if (!kernel::divide_row(from, value_dim, sum, output) || !std::isfinite(tile.max[r]) ||
      !std::isfinite(sum)) {
    return false;
  }
  for (const std::size_t j : tainted_) {
    if (j >= reach.first && j < reach.last && !call_.rule.hides(b_, head, query, j)) {
      return false;
    }
  }
  return true;
}

template <class Otherwise>
bool Head::store(Otherwise&& otherwise) const {
  bool good = true;
  for (std::size_t t = 0; t < active_; ++t) {
    if (call_.side_by_side) {
      write(tiles_[t]);
    }
    for (std::size_t r = 0; r < tiles_[t].count; ++r) {
      if (!settle(tiles_[t], r)) {
        good = false;
        otherwise(tiles_[t].rows[r]);
      }
    }
  }
  return good;
}

void Head::attend_rows(std::size_t head, const ConstPanels& keys, const ConstPanels& values) {
  std::size_t query = 0;
  for (std::size_t left = call_.rows(); left > 0;) {
    active_ = std::min(kTiles, round_up(left) / kPanel);
    for (std::size_t t = 0; t < active_; ++t) {
      Tile& tile = tiles_[t];
      tile.count = std::min(kPanel, left);
      left -= tile.count;
      for (std::size_t r = 0; r < tile.count; ++r) {
        tile.rows[r].head = head;
        tile.rows[r].query = query;
        tile.rows[r].output = call_.output.row(b_, head, query);
        if (++query == call_.queries()) {
          query = 0;
          ++head;
        }
      }
    }
    run(keys, values);
    if (store([](const Tile::Row&) {})) {
      continue;
    }
    const ConstPanels finite = clean(values);
    if (!tainted_.empty()) {
      run(keys, finite);
    }
    store([&](const Tile::Row& row) {
      attend_row(query_at(row), b_, row.head, row.query, keys, values, call_.rule, call_.options,
                 row.output);
    });
  }
}

void Head::attend(std::size_t b, std::size_t h, const ConstPanels& keys,
                  const ConstPanels& values) {
  b_ = b;
  clean_.clear();
  tainted_.clear();
  const std::size_t first = h * call_.group;
  for (std::size_t head = first; head < first + call_.group;
       head += call_.side_by_side ? 1 : call_.group) {
    attend_rows(head, keys, values);
  }
}

/// Head h of batch row b of k [B, Hkv, S, E] and v [B, Hkv, S, Ev].
void pack(const View4<const float>& k, const View4<const float>& v, std::size_t b, std::size_t h,
          const PanelsView<float>& keys, const PanelsView<float>& values) {
  set_rows(keys, k.row(b, h, 0), k.strides[2]);
  for (std::size_t j = 0; j < v.shape[2]; ++j) {
    set_column(values, j, v.row(b, h, j));
  }
}

Tensor4 output_for(const Tensor4& q, std::size_t value_dim) {
  const std::array<std::size_t, 4> shape{q.shape(0), q.shape(1), q.shape(2), value_dim};
  require_addressable(shape, "output");
  return Tensor4::from_shape(shape);
}

}  // namespace

void flash_attention(const View4<const float>& q, const View4<const float>& k,
                     const View4<const float>& v, const AttentionOptions& options,
                     const View4<float>& output) {
  require_attention_shapes(q.shape, k.shape, v.shape);
  const auto [batch, kv_heads, keys, head_dim] = k.shape;
  const Call call(q, k.shape, options, output);
  if (batch == 0) {
    return;  // without numbers a shape may be of any size
  }
  const std::size_t key_floats = round_up(keys) * head_dim;
  const std::size_t value_floats = call.width * keys;
  Scratch scratch(key_floats + value_floats + Head::floats(call));
  const PanelsView<float> own_keys(scratch.take(key_floats), keys, head_dim);
  const PanelsView<float> own_values(scratch.take(value_floats), v.shape[3], keys);
  // What fills up the last panels is multiplied as well.
  clear_rest(own_keys);
  clear_rest(own_values);
  Head head(call, scratch);
  for (std::size_t own = 0; own < batch * kv_heads; ++own) {
    pack(k, v, own / kv_heads, own % kv_heads, own_keys, own_values);
    head.attend(own / kv_heads, own % kv_heads, own_keys, own_values);
  }
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
  const View4<const float> queries = view_of(q);
  const View4<float> out = view_of(output);
  const Call call(queries, {q.shape(0), kv_heads, keys, q.shape(3)}, options, out);
  Scratch scratch(Head::floats(call));
  Head head(call, scratch);
  for (std::size_t own = 0; own < q.shape(0) * kv_heads; ++own) {
    head.attend(own / kv_heads, own % kv_heads, packed.keys[own].view(), packed.values[own].view());
  }
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
