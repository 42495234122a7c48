#include "flash.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "catch.hpp"
#include "heads.hpp"
#include "kernel.hpp"
#include "kv_cache.hpp"
#include "linear.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

using Sizes = std::vector<std::size_t>;

struct Inputs {
  Tensor4 q, k, v;
};

Inputs inputs(RandomInput& random, const ScoreShape& shape, std::size_t head_dim,
              std::size_t value_dim, std::size_t kv_heads = 1) {
  const auto [batch, heads, queries, keys] = shape;
  return {random.tensor4({batch, heads, queries, head_dim}),
          random.tensor4({batch, kv_heads, keys, head_dim}),
          random.tensor4({batch, kv_heads, keys, value_dim})};
}

Tensor4 flash(const Inputs& in, const AttentionOptions& options = {}) {
  return flash_attention(in.q, in.k, in.v, options);
}

/// Query i alone, at the place that it has among all.
Tensor4 row_alone(const Inputs& in, AttentionOptions options, std::size_t i) {
  Tensor4 q = Tensor4::from_shape({in.q.shape(0), in.q.shape(1), 1, in.q.shape(3)});
  for (std::size_t b = 0; b < q.shape(0); ++b) {
    for (std::size_t h = 0; h < q.shape(1); ++h) {
      std::copy_n(&in.q(b, h, i, 0), q.shape(3), &q(b, h, 0, 0));
    }
  }
  options.query_offsets.assign(q.shape(0), static_cast<std::ptrdiff_t>(i));
  return flash_attention(q, in.k, in.v, options);
}

std::string other_row_bits(const Tensor4& whole, const Tensor4& row, std::size_t i) {
  for (std::size_t b = 0; b < whole.shape(0); ++b) {
    for (std::size_t h = 0; h < whole.shape(1); ++h) {
      const std::string other = other_bits(&whole(b, h, i, 0), &row(b, h, 0, 0), whole.shape(3));
      if (!other.empty()) {
        return "row " + std::to_string(i) + ": " + other;
      }
    }
  }
  return "";
}

// Around the eight lanes, the sixteen steps of a turn, the blocks of 128 keys and the 64 queries
// that share one.
const Sizes kQueryEdges = {1, 3, 7, 8, 9, 16, 17, 63, 64, 65, 73};
const Sizes kKeyEdges = {1, 2, 8, 9, 15, 16, 17, 127, 128, 129, 261};
const Sizes kWidths = {1, 3, 7, 8, 9, 15, 16, 17, 33};

}  // namespace

TEST_CASE("flash: every tile edge, against the oracle", "[slow]") {
  RandomInput random(1);
  std::size_t turn = 0;
  for (const std::size_t queries : kQueryEdges) {
    for (const std::size_t keys : kKeyEdges) {
      const std::size_t head_dim = kWidths[turn % kWidths.size()];
      const std::size_t value_dim = kWidths[(turn / 2 + 3) % kWidths.size()];
      CAPTURE(queries, keys, head_dim, value_dim);
      ++turn;
      const Inputs in = inputs(random, {1, 2, queries, keys}, head_dim, value_dim);
      for (const Causal causal : {Causal::none, Causal::top_left, Causal::bottom_right}) {
        const oracle::Passes want = oracle::attention(numbers(in.q), numbers(in.k), numbers(in.v),
                                                      oracle_bias({}, causal, queries, keys));
        CHECK(mismatch(numbers(flash(in, with({}, causal))), want.output, kContract) == "");
      }
    }
  }
}

TEST_CASE("flash: the tail of the last tile counts for nothing") {
  for (const std::size_t keys : kKeyEdges) {
    for (const std::size_t queries : kQueryEdges) {
      for (const std::size_t width : Sizes{1, 3, 5, 8, 17}) {
        CAPTURE(keys, queries, width);
        const Inputs in{xt::zeros<float>({1UL, 1UL, queries, width}),
                        xt::zeros<float>({1UL, 1UL, keys, width}),
                        xt::ones<float>({1UL, 1UL, keys, width})};
        const Tensor4 output = flash(in);
        CHECK(std::all_of(output.begin(), output.end(), [](float x) { return x == 1.0F; }));
      }
    }
  }
}

TEST_CASE("flash: without a key every output is 0") {
  RandomInput random(4);
  for (const std::size_t queries : Sizes{1, 9}) {
    for (const std::size_t heads : Sizes{1, 4}) {
      CAPTURE(queries, heads);
      const Tensor4 output = flash(inputs(random, {1, heads, queries, 0}, 3, 5));
      CHECK(output.size() == heads * queries * 5);
      CHECK(other_bits(output, Tensor4(xt::zeros<float>(output.shape()))) == "");
    }
  }
}

TEST_CASE("flash: every kind of mask, against the passes") {
  RandomInput random(2);
  for (std::size_t round = 0; round < 60; ++round) {
    const std::size_t batch = random.between(1, 2), kv_heads = random.between(1, 2);
    const std::size_t heads = kv_heads * random.between(1, 3);
    const std::size_t queries = random.between(1, 20);
    const std::size_t keys = random.between(1, round % 5 == 0 ? 300 : 20);
    AttentionOptions options;
    options.alignment = Alignment::bottom_right;
    if (random.chance(0.4)) {
      options.masks.emplace_back(random.keep({batch, 1, queries, keys}, 0.6));
    }
    if (random.chance(0.4)) {
      options.masks.emplace_back(random.bias({heads, 1, keys}, 0.8));
    }
    if (random.chance(0.3)) {
      options.causal = random.chance(0.5) ? Causal::bottom_right : Causal::top_left;
    }
    if (random.chance(0.3)) {
      options.window_left = random.between(0, 9);
    }
    if (random.chance(0.3)) {
      options.window_right = random.between(0, 9);
    }
    if (random.chance(0.3)) {
      options.key_lengths = std::vector<std::size_t>(batch, random.between(0, keys));
    }
    if (random.chance(0.3)) {
      options.alibi_slopes.assign(heads, 0.25F);
    }
    if (random.chance(0.3)) {
      options.sinks.assign(heads, 0.5F);
    }
    if (random.chance(0.3)) {
      options.softcap = 4.0F;
    }
    if (random.chance(0.3)) {
      options.free_keys = 1;
      options.key_lengths.clear();
      options.masks.clear();
    }
    if (random.chance(0.3)) {
      options.scale = -0.5F;
    }
    CAPTURE(round, batch, heads, kv_heads, queries, keys);
    const Inputs in = inputs(random, {batch, heads, queries, keys}, random.between(1, 20),
                             random.between(1, 20), kv_heads);
    CHECK(mismatch(numbers(flash(in, options)),
                   numbers(attention(in.q, in.k, in.v, options).output), kContract) == "");
  }
}

TEST_CASE("flash: a row has its own bits, however many there are") {
  RandomInput random(3);
  const Inputs in = inputs(random, {2, 4, 70, 70}, 12, 9, 2);
  AttentionOptions windowed = with({}, Causal::square);
  windowed.window_left = 11;
  AttentionOptions masked = with({random.keep({1, 70}, 0.7)}, Causal::square);
  for (const AttentionOptions& options : {with({}, Causal::square), windowed, masked}) {
    const Tensor4 whole = flash(in, options);
    for (std::size_t i = 0; i < 70; ++i) {
      CHECK(other_row_bits(whole, row_alone(in, options, i), i) == "");
    }
  }
}

// Few queries take several blocks of keys at once.
TEST_CASE("flash: a row has its own bits over several blocks") {
  RandomInput random(13);
  const std::size_t length = 1100;
  AttentionOptions windowed = with({}, Causal::square);
  windowed.window_left = 300;
  AttentionOptions masked = with({random.keep({1, length}, 0.7)}, Causal::square);
  for (const std::size_t heads : Sizes{1, 3, 4}) {
    const Inputs in = inputs(random, {1, heads, length, length}, 9, 41);
    for (const AttentionOptions& options : {with({}, Causal::square), windowed, masked}) {
      const Tensor4 whole = flash(in, options);
      for (const std::size_t i : Sizes{0, 127, 128, 300, 511, 512, 767, 1024, 1099}) {
        CAPTURE(heads);
        CHECK(other_row_bits(whole, row_alone(in, options, i), i) == "");
      }
    }
  }
}

TEST_CASE("flash: few queries over several blocks, against the oracle") {
  RandomInput random(14);
  for (const std::size_t keys : Sizes{511, 512, 513, 1030}) {
    for (const std::size_t queries : Sizes{1, 3, 4, 7}) {
      for (const std::size_t value_dim : Sizes{8, 31, 40}) {
        CAPTURE(keys, queries, value_dim);
        const Inputs in = inputs(random, {1, 2, queries, keys}, 17, value_dim);
        const oracle::Passes want =
            oracle::attention(numbers(in.q), numbers(in.k), numbers(in.v),
                              oracle_bias({}, Causal::bottom_right, queries, keys));
        CHECK(mismatch(numbers(flash(in, with({}, Causal::bottom_right))), want.output,
                       kContract) == "");
      }
    }
  }
}

TEST_CASE("flash: what is hidden changes no bit") {
  RandomInput random(4);
  const std::size_t length = 140;
  const Inputs clean = inputs(random, {1, 2, length, length}, 8, 8);
  for (const float rubbish : {kNaN, kInf, -kInf, kMaxFloat, 1e30F}) {
    for (const std::size_t cut : Sizes{0, 7, 8, 63, 64, 127, 128}) {
      CAPTURE(rubbish, cut);
      Inputs other = clean;
      for (std::size_t j = cut + 1; j < length; ++j) {
        std::fill_n(&other.k(0, 0, j, 0), 8, rubbish);
        std::fill_n(&other.v(0, 0, j, 0), 8, rubbish);
      }
      const Tensor4 before = flash(clean, with({}, Causal::square));
      const Tensor4 after = flash(other, with({}, Causal::square));
      for (std::size_t h = 0; h < 2; ++h) {
        CHECK(other_bits(&after(0, h, 0, 0), &before(0, h, 0, 0), (cut + 1) * 8) == "");
      }
      // Few queries take another way.
      for (const std::size_t i : {cut, cut / 2}) {
        CHECK(other_row_bits(before, row_alone(other, with({}, Causal::square), i), i) == "");
      }
    }
  }
}

TEST_CASE("flash: what is cleaned for one head is not what another reads") {
  RandomInput random(11);
  Inputs in = inputs(random, {2, 2, 10, 10}, 4, 4, 2);
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t h = 0; h < 2; ++h) {
      in.v(b, h, 9, h + b) = kNaN;  // seen by the last query alone
    }
  }
  const AttentionOptions causal = with({}, Causal::square);
  CHECK(mismatch(numbers(flash(in, causal)), numbers(attention(in.q, in.k, in.v, causal).output),
                 kContract) == "");
}

TEST_CASE("flash: wherever the numbers lie, the bits are the same") {
  RandomInput random(15);
  for (const std::size_t queries : Sizes{1, 16}) {
    const Inputs in = inputs(random, {1, 2, queries, 40}, 16, 8);
    const Tensor4 want = flash(in);
    for (std::size_t offset = 0; offset < 8; ++offset) {
      CAPTURE(queries, offset);
      const auto moved = [offset](const Tensor4& x) {
        std::vector<float> held(offset, kNaN);
        held.insert(held.end(), x.begin(), x.end());
        return held;
      };
      const std::vector<float> q = moved(in.q), k = moved(in.k), v = moved(in.v);
      std::vector<float> output = moved(want);
      std::fill(output.begin(), output.end(), kNaN);
      const auto view = [offset](const std::vector<float>& held, const Tensor4& x) {
        return View4<const float>{held.data() + offset, x.shape()};
      };
      flash_attention(view(q, in.q), view(k, in.k), view(v, in.v), {},
                      {output.data() + offset, want.shape()});
      CHECK(other_bits(output.data() + offset, want.data(), want.size()) == "");
    }
  }
}

TEST_CASE("flash: without a batch row sizes are only numbers") {
  const std::size_t huge = std::numeric_limits<std::size_t>::max() / 24;
  const float none = 0;
  float nowhere = 0;
  const View4<const float> q{&none, {0, 1, 2, 8}}, k{&none, {0, 1, huge, 8}};
  flash_attention(q, k, k, {}, {&nowhere, {0, 1, 2, 8}});
  CHECK(nowhere == 0.0F);
}

TEST_CASE("flash: infinities and NaN that are seen come out as the passes have them") {
  RandomInput random(5);
  for (const float seen : {kNaN, kInf, -kInf}) {
    for (const std::size_t queries : Sizes{2, 9}) {
      for (const std::size_t value_dim : Sizes{3, 8}) {
        CAPTURE(seen, queries, value_dim);
        Inputs in = inputs(random, {1, 1, queries, 9}, 4, value_dim);
        in.v(0, 0, 3, 1) = seen;
        in.k(0, 0, 5, 2) = seen;
        CHECK(mismatch(numbers(flash(in)), numbers(attention(in.q, in.k, in.v, {}).output),
                       kContract) == "");
      }
    }
  }
}

TEST_CASE("flash: numbers that float32 cannot hold on the way") {
  for (const std::size_t queries : Sizes{1, 8}) {
    for (const std::size_t value_dim : Sizes{1, 8}) {
      CAPTURE(queries, value_dim);
      const auto same = [&](float x) {
        return tensor4({1, 1, queries, 1}, std::vector<float>(queries, x));
      };
      const auto values = [&](float first, float second) {
        std::vector<float> both(value_dim, first);
        both.insert(both.end(), value_dim, second);
        return tensor4({1, 1, 2, value_dim}, both);
      };
      const auto all = [&](float want, const Tensor4& output) {
        CAPTURE(want);
        const std::vector<float> wanted(queries * value_dim, want);
        CHECK(mismatch(numbers(output), numbers(tensor4({1, 1, queries, value_dim}, wanted)),
                       {0, 1e-6}) == "");
      };
      // scores beyond the largest float are that float, and equal ones share
      all(2, flash_attention(same(1e30F), tensor4({1, 1, 2, 1}, {1e30F, 1e30F}), values(1, 3), {}));
      all(2,
          flash_attention(same(1e30F), tensor4({1, 1, 2, 1}, {-1e30F, -1e30F}), values(1, 3), {}));
      // a sum of values overflows, their mean does not
      all(kMaxFloat, flash_attention(same(0), tensor4({1, 1, 2, 1}, {0, 0}),
                                     values(kMaxFloat, kMaxFloat), {}));
      all(0.731059F,
          flash_attention(same(1), tensor4({1, 1, 2, 1}, {-200000, -200001}), values(1, 0), {}));
    }
  }
}

TEST_CASE("flash: heads of 512 numbers") {
  RandomInput random(6);
  const Inputs in = inputs(random, {1, 1, 17, 40}, 512, 512);
  CHECK(mismatch(numbers(flash(in)),
                 oracle::attention(numbers(in.q), numbers(in.k), numbers(in.v)).output,
                 kContract) == "");
}

TEST_CASE("flash: a key/value head is shared as if it were repeated") {
  RandomInput random(7);
  for (const std::size_t queries : Sizes{1, 3, 11}) {
    const Inputs in = inputs(random, {2, 6, queries, 20}, 5, 7, 2);
    const Inputs repeated{in.q, repeat_kv(in.k, 3), repeat_kv(in.v, 3)};
    CHECK(other_bits(flash(in), flash(repeated)) == "");
  }
}

TEST_CASE("flash: few queries of more heads than share a block") {
  RandomInput random(10);
  for (const std::size_t queries : Sizes{1, 3, 7}) {
    const std::size_t heads = 30, keys = 150;  // up to 210 rows, 64 at once
    AttentionOptions options = with({random.keep({heads, queries, keys}, 0.9)});
    options.alignment = Alignment::bottom_right;
    options.window_left = 140;
    for (std::size_t h = 0; h < heads; ++h) {
      options.sinks.push_back(0.1F * static_cast<float>(h));
      options.alibi_slopes.push_back(0.01F * static_cast<float>(h));
    }
    Inputs in = inputs(random, {2, heads, queries, keys}, 5, 6);
    in.v(1, 0, 100, 2) = kInf;  // seen by some rows, hidden from others
    CHECK(mismatch(numbers(flash(in, options)),
                   numbers(attention(in.q, in.k, in.v, options).output), kContract) == "");
  }
}

TEST_CASE("kernel: exp of differences to the maximum") {
  for (std::size_t form = 0; form < 2; ++form) {
    const std::size_t step = form == 0 ? 1 : kPanel;
    std::vector<float> differences = {0, -87.5F, -88.1F, -1000, -kInf, kNaN};
    for (float x = -0.01F; x > -87; x *= 1.03F) {
      differences.push_back(x);
    }
    std::vector<float> scores((differences.size() + 3) * step, -kInf);
    for (std::size_t n = 0; n < differences.size(); ++n) {
      scores[n * step] = differences[n];
    }
    std::vector<float> max(kPanel, -kInf), sums(4 * kPanel), shrink(kPanel);
    (form == 0 ? kernel::soften_row : kernel::soften_lanes)(scores.data(), differences.size(),
                                                            max.data(), sums.data(), shrink.data());
    CHECK(max[0] == 0.0F);
    CHECK(shrink[0] == 0.0F);
    CHECK(scores[0] == 1.0F);
    CHECK(scores[2 * step] == 0.0F);
    CHECK(scores[3 * step] == 0.0F);
    CHECK(scores[4 * step] == 0.0F);
    CHECK(std::isnan(scores[5 * step]));
    for (std::size_t n = 6; n < differences.size(); ++n) {
      const double want = std::exp(static_cast<double>(differences[n]));
      CAPTURE(differences[n]);
      // the argument is rounded once, at 2^-24 of itself
      CHECK(std::fabs(static_cast<double>(scores[n * step]) / want - 1) <
            2e-7 + 1.2e-7 * std::fabs(static_cast<double>(differences[n])));
    }
  }
}

TEST_CASE("fast linear: against the oracle, each row with its own bits") {
  RandomInput random(8);
  for (const std::size_t rows : Sizes{1, 4, 7, 8, 9, 19}) {
    for (const std::size_t out : Sizes{1, 8, 13, 40}) {
      for (const std::size_t in : Sizes{1, 9, 64}) {
        CAPTURE(rows, out, in);
        const Tensor3 x = random.tensor3({1, rows, in});
        const Tensor3 weight = random.tensor3({1, out, in});
        const Tensor3 bias = random.tensor3({1, 1, out});
        Projection projection;
        projection.weight = Panels(out, in);
        for (std::size_t row = 0; row < out; ++row) {
          set_row(projection.weight.view(), row, &weight(0, row, 0));
        }
        projection.bias = Tensor1::from_shape({out});
        std::copy(bias.begin(), bias.end(), projection.bias.begin());
        const Tensor3 y = fast_linear(x, projection);
        const Numbers want = oracle::linear(numbers(x), reshaped(numbers(weight), {out, in}),
                                            reshaped(numbers(bias), {out}));
        // float32 rounds once a term
        CHECK(mismatch(numbers(y), want, {std::ldexp(static_cast<double>(in), -24), 1e-6}) == "");
        CHECK(mismatch(numbers(plain_linear(x, projection)), want, {0, 1e-7}) == "");
        Tensor3 last = Tensor3::from_shape({1, 1, in});
        std::copy_n(&x(0, rows - 1, 0), in, last.data());
        const Tensor3 alone = fast_linear(last, projection);
        CHECK(other_bits(alone.data(), &y(0, rows - 1, 0), out) == "");
      }
    }
  }
}

TEST_CASE("fast linear: zero has one sign, however many rows there are") {
  const float weight = 1;
  for (const std::size_t out : Sizes{1, 8}) {
    Projection projection;
    projection.weight = Panels(out, 1);
    for (std::size_t n = 0; n < out; ++n) {
      set_row(projection.weight.view(), n, &weight);
    }
    projection.bias = Tensor1(std::array<std::size_t, 1>{out}, -0.0F);
    for (const std::size_t rows : Sizes{1, 8}) {
      CAPTURE(out, rows);
      const Tensor3 x(std::array<std::size_t, 3>{1, rows, 1}, -0.0F);
      const Tensor3 y = fast_linear(x, projection);
      CHECK(std::none_of(y.begin(), y.end(), [](float number) { return std::signbit(number); }));
    }
  }
}

TEST_CASE("fast linear: a finite sum that float32 cannot hold on the way") {
  const std::vector<float> row = {kMaxFloat, kMaxFloat, -kMaxFloat};
  for (const std::size_t out : Sizes{1, 8}) {
    Projection projection;
    projection.weight = Panels(out, 3);
    for (std::size_t n = 0; n < out; ++n) {
      set_row(projection.weight.view(), n, row.data());
    }
    for (const std::size_t rows : Sizes{1, 8}) {
      CAPTURE(out, rows);
      const Tensor3 x = xt::ones<float>({1UL, rows, 3UL});
      const Tensor3 y = fast_linear(x, projection);
      CHECK(std::all_of(y.begin(), y.end(), [](float number) { return number == kMaxFloat; }));
    }
  }
}

TEST_CASE("mask: a reach is what lengths, causal and windows say, key by key") {
  RandomInput random(9);
  constexpr std::size_t kBoundless = std::numeric_limits<std::size_t>::max();
  for (std::size_t round = 0; round < 300; ++round) {
    const std::size_t queries = random.between(1, 12), keys = random.between(0, 8);
    const auto size = [&] { return random.chance(0.2) ? kBoundless : random.between(0, 12); };
    MaskSpec spec;
    spec.causal = random.chance(0.5) ? Causal::bottom_right : Causal::none;
    spec.alignment = Alignment::bottom_right;
    if (random.chance(0.5)) {
      spec.window_left = size();
    }
    if (random.chance(0.5)) {
      spec.window_right = size();
    }
    if (random.chance(0.5)) {
      spec.key_lengths = {random.between(0, keys)};
    }
    const MaskRule rule(spec, {1, 1, queries, keys});
    const std::size_t length = spec.key_lengths.empty() ? keys : spec.key_lengths[0];
    const auto within = [](double distance, const std::optional<std::size_t>& window) {
      return !window || *window == kBoundless || distance <= static_cast<double>(*window);
    };
    CHECK_FALSE(rule.has_biases());
    for (std::size_t i = 0; i < queries; ++i) {
      const MaskRule::Reach reach = rule.reach(0, i);
      for (std::size_t j = 0; j < keys; ++j) {
        const double ahead = static_cast<double>(j + queries) - static_cast<double>(i + length);
        const bool seen = j < length && (spec.causal == Causal::none || ahead <= 0) &&
                          within(ahead, spec.window_right) && within(-ahead, spec.window_left);
        CHECK((j >= reach.first && j < reach.last) == seen);
        CHECK(rule.hides(0, 0, i, j) == !seen);
      }
    }
  }
}
