// The two halves of a leak check, and the faults that it must catch.

#include "causality.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <xtensor/xview.hpp>

#include "attention.hpp"
#include "cached_attention.hpp"
#include "catch.hpp"
#include "faulty.hpp"
#include "mask_array.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

constexpr Replacement kKinds[] = {Replacement::random, Replacement::large, Replacement::permuted,
                                  Replacement::nan};

NdArray cells(std::initializer_list<float> data) {
  return nd_array({data.size()}, std::vector<float>(data));
}

/// One token of x [outer, positions, inner].
std::vector<float> token(const NdArray& x, std::size_t outer, std::size_t position) {
  std::vector<float> values(x.shape(2));
  for (std::size_t e = 0; e < values.size(); ++e) {
    values[e] = x(outer, position, e);
  }
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && other_bits(a.data(), b.data(), a.size()).empty();
}

struct Inputs {
  Tensor4 q, k, v;
};
Inputs random_inputs(std::uint32_t seed, std::size_t length) {
  RandomInput random(seed);
  return {random.tensor4({2, 2, length, 3}), random.tensor4({2, 2, length, 3}),
          random.tensor4({2, 2, length, 4})};
}

Tensor4 causal_attention(const Tensor4& q, const Tensor4& k, const Tensor4& v) {
  return attention(q, k, v, with({}, Causal::square)).output;
}

using Attend = std::function<Tensor4(const Tensor4& q, const Tensor4& k, const Tensor4& v)>;

Attend faulty(const std::string& name) {
  return [name](const Tensor4& q, const Tensor4& k, const Tensor4& v) {
    return faulty_attention(name, q, k, v);
  };
}

Tensor4 with_future(const Tensor4& x, std::size_t cut, Replacement kind, float magnitude) {
  return replace_tokens(NdArray(x), 2, cut, x.shape(2), kind, magnitude,
                        static_cast<std::uint32_t>(cut));
}

/// How far positions before `cut` moved when everything from `cut` on was replaced.
Moves moves_of(const Attend& attend, const Inputs& x, std::size_t cut, Replacement kind,
               float magnitude) {
  const Tensor4 before = attend(x.q, x.k, x.v);
  const Tensor4 after =
      attend(with_future(x.q, cut, kind, magnitude), with_future(x.k, cut, kind, magnitude),
             with_future(x.v, cut, kind, magnitude));
  Moves moves = compare_positions(NdArray(before), NdArray(after), 2, 0);
  moves.moved.resize(cut);
  moves.distance.resize(cut);
  return moves;
}

bool any_moved(const Moves& moves) {
  return std::any_of(moves.moved.begin(), moves.moved.end(), [](auto moved) { return moved != 0; });
}

/// The cuts at which an earlier position moved.
std::set<std::size_t> leaking_cuts(const Attend& attend, const Inputs& x, Replacement kind,
                                   float magnitude) {
  std::set<std::size_t> cuts;
  for (std::size_t cut = 1; cut < x.q.shape(2); ++cut) {
    if (any_moved(moves_of(attend, x, cut, kind, magnitude))) {
      cuts.insert(cut);
    }
  }
  return cuts;
}

std::set<std::size_t> cuts_between(std::size_t first, std::size_t last) {
  std::set<std::size_t> cuts;
  for (std::size_t cut = first; cut <= last; ++cut) {
    cuts.insert(cut);
  }
  return cuts;
}

/// The oracle with a mask of its own.
Numbers attended_where(const Inputs& x,
                       const std::function<bool(std::size_t i, std::size_t j)>& visible) {
  return oracle::attention(numbers(x.q), numbers(x.k), numbers(x.v),
                           [&](std::size_t, std::size_t, std::size_t i, std::size_t j) {
                             return visible(i, j) ? 0.0 : -std::numeric_limits<double>::infinity();
                           })
      .output;
}

Numbers right_answer(const Inputs& x) {
  return attended_where(x, [](std::size_t i, std::size_t j) { return j <= i; });
}

Numbers answer_of(const std::string& fault, const Inputs& x) {
  return numbers(faulty_attention(fault, x.q, x.k, x.v));
}

}  // namespace

// ---- replacing tokens -----------------------------------------------------------------------

TEST_CASE("replacement: a token outside the range changes") {
  RandomInput random(71);
  const NdArray x = random.nd_array({2, 3, 4, 5});
  const NdArray before = x;
  for (const Replacement kind : kKinds) {
    for (std::size_t axis = 0; axis < 4; ++axis) {
      const std::size_t first = 1, end = x.shape(axis);
      const NdArray y = replace_tokens(x, axis, first, end, kind, 3, 7);
      CAPTURE(static_cast<int>(kind), axis);
      CHECK(other_bits(x, before) == "");
      REQUIRE(shape_of(y) == shape_of(x));
      std::size_t touched = 0, missed = 0;
      for (std::size_t a = 0; a < 2; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
          for (std::size_t c = 0; c < 4; ++c) {
            for (std::size_t d = 0; d < 5; ++d) {
              const std::size_t position[] = {a, b, c, d};
              const float was = x(a, b, c, d), is = y(a, b, c, d);
              const bool same = other_bits(&was, &is, 1).empty();
              touched += position[axis] < first && !same ? 1U : 0U;
              missed += position[axis] >= first && same ? 1U : 0U;
            }
          }
        }
      }
      CHECK(touched == 0);
      // a single token has nothing to be permuted with
      CHECK((missed == 0) == (kind != Replacement::permuted || end - first > 1));
    }
  }
}

TEST_CASE("replacement: only the tokens in the middle") {
  const NdArray x = cells({1, 2, 3, 4, 5, 6});
  CHECK(mismatch(numbers(replace_tokens(x, 0, 2, 4, Replacement::large, 100, 0)),
                 list({1, 2, 103, 104, 5, 6}), kExact) == "");
  CHECK(mismatch(numbers(replace_tokens(x, 0, 2, 4, Replacement::large, -100, 0)),
                 list({1, 2, -97, -96, 5, 6}), kExact) == "");
  CHECK(mismatch(numbers(replace_tokens(x, 0, 2, 4, Replacement::permuted, 1, 0)),
                 list({1, 2, 4, 3, 5, 6}), kExact) == "");
  const double nan = std::nan("");
  CHECK(mismatch(numbers(replace_tokens(x, 0, 0, 2, Replacement::nan, 1, 0)),
                 list({nan, nan, 3, 4, 5, 6}), kExact) == "");
}

TEST_CASE("replacement: an empty range, or one token") {
  const NdArray x = cells({1, 2, 3});
  for (const Replacement kind : kKinds) {
    CHECK(other_bits(replace_tokens(x, 0, 3, 3, kind, 5, 1), x) == "");
    CHECK(other_bits(replace_tokens(x, 0, 0, 0, kind, 5, 1), x) == "");
  }
  CHECK(other_bits(replace_tokens(x, 0, 1, 2, Replacement::permuted, 5, 1), x) == "");
  CHECK(shape_of(replace_tokens(nd_array({2, 0}, {}), 1, 0, 0, Replacement::nan, 1, 1)) ==
        Shape{2, 0});
}

TEST_CASE("replacement: a permutation leaves a token where it was, or tears one apart") {
  RandomInput random(72);
  const NdArray x = random.nd_array({3, 8, 4});
  std::set<std::size_t> orders;
  for (std::uint32_t seed = 0; seed < 64; ++seed) {
    const NdArray y = replace_tokens(x, 1, 2, 8, Replacement::permuted, 1, seed);
    for (std::size_t outer = 0; outer < 3; ++outer) {
      std::set<std::size_t> sources;
      for (std::size_t position = 2; position < 8; ++position) {
        for (std::size_t source = 2; source < 8; ++source) {
          if (same_bits(token(y, outer, position), token(x, outer, source))) {
            CHECK(source != position);
            sources.insert(source);
            orders.insert(position == 2 ? source : 0);
          }
        }
      }
      CHECK(sources == cuts_between(2, 7));  // each of them once
    }
  }
  CHECK(orders.size() > 3);  // the seed chooses
}

TEST_CASE("replacement: random numbers of another size, or not independent") {
  const NdArray x = xt::zeros<float>(Shape{20, 50, 4});
  for (const float magnitude : {1.0F, 1000.0F, 1e-3F}) {
    const NdArray y = replace_tokens(x, 1, 0, 50, Replacement::random, magnitude, 3);
    double mean = 0, square = 0;
    std::set<float> distinct;
    for (const float value : y) {
      const double unit = static_cast<double>(value) / static_cast<double>(magnitude);
      mean += unit / 4000;
      square += unit * unit / 4000;
      distinct.insert(value);
    }
    CHECK(std::abs(mean) < 5 * std::sqrt(1.0 / 4000));
    CHECK(std::abs(square - 1) < 5 * std::sqrt(2.0 / 4000));
    CHECK(distinct.size() > 3990);
  }
}

TEST_CASE("replacement: the same seed gives other bits, or another seed the same") {
  RandomInput random(73);
  const NdArray x = random.nd_array({2, 6, 3});
  for (const Replacement kind : kKinds) {
    CHECK(other_bits(replace_tokens(x, 1, 2, 6, kind, 2, 11),
                     replace_tokens(x, 1, 2, 6, kind, 2, 11)) == "");
  }
  CHECK(other_bits(replace_tokens(x, 1, 2, 6, Replacement::random, 2, 11),
                   replace_tokens(x, 1, 2, 6, Replacement::random, 2, 12)) != "");
}

// ---- comparing positions --------------------------------------------------------------------

TEST_CASE("compare: NaN is not noticed, or taken for a move of itself") {
  const double infinity = std::numeric_limits<double>::infinity();
  const NdArray before = cells({1, kNaN, kNaN, 1, kInf, kInf, kInf, -kInf});
  const NdArray after = cells({1, kNaN, 1, kNaN, kInf, 1, -kInf, kNaN});
  for (const double tolerance : {0.0, 1e-6, 1e30}) {
    CAPTURE(tolerance);
    const Moves moves = compare_positions(before, after, 0, tolerance);
    CHECK(moves.moved == std::vector<std::uint8_t>{0, 0, 1, 1, 0, 1, 1, 1});
    CHECK(moves.distance ==
          std::vector<double>{0, 0, infinity, infinity, 0, infinity, infinity, infinity});
  }
}

TEST_CASE("compare: the sign of zero and the last bit count only without tolerance") {
  const float next = std::nextafter(1.0F, 2.0F);
  const NdArray before = cells({0, -0.0F, 1}), after = cells({-0.0F, -0.0F, next});
  const Moves exact = compare_positions(before, after, 0, 0);
  CHECK(exact.moved == std::vector<std::uint8_t>{1, 0, 1});
  CHECK(exact.distance == std::vector<double>{0, 0, static_cast<double>(next) - 1});
  const Moves close = compare_positions(before, after, 0, 1e-6);
  CHECK(close.moved == std::vector<std::uint8_t>{0, 0, 0});
  CHECK(close.distance == std::vector<double>{0, 0, 0});
}

TEST_CASE("compare: what is as far as the tolerance counts as a move") {
  const NdArray before = cells({1, 1, 1, -4}), after = cells({1.5F, 1.75F, 0.5F, 4});
  const Moves moves = compare_positions(before, after, 0, 0.5);
  CHECK(moves.moved == std::vector<std::uint8_t>{0, 1, 0, 1});
  CHECK(moves.distance == std::vector<double>{0, 0.75, 0, 8});
}

TEST_CASE("compare: the wrong axis, or not the largest distance") {
  NdArray before = xt::zeros<float>(Shape{2, 3, 2});
  NdArray after = before;
  after(0, 1, 0) = 4;
  after(0, 1, 1) = -9;
  after(1, 1, 0) = 2;
  after(1, 2, 1) = 1;
  const auto along = [&](std::size_t axis) { return compare_positions(before, after, axis, 0); };
  CHECK(along(0).moved == std::vector<std::uint8_t>{1, 1});
  CHECK(along(0).distance == std::vector<double>{9, 2});
  CHECK(along(1).moved == std::vector<std::uint8_t>{0, 1, 1});
  CHECK(along(1).distance == std::vector<double>{0, 9, 1});
  CHECK(along(2).moved == std::vector<std::uint8_t>{1, 1});
  CHECK(along(2).distance == std::vector<double>{4, 9});
  CHECK(compare_positions(nd_array({0}, {}), nd_array({0}, {}), 0, 0).moved.empty());
}

// ---- a leak check that cannot see a leak, or cries wolf -------------------------------------

TEST_CASE("leak check: no mask is not noticed (positive control)") {
  const Tensor4 zeros = zero_tokens(2), v = tokens({1, 3});
  const Tensor4 replaced = with_future(v, 1, Replacement::large, 100);
  const auto row0 = [&](const Attend& attend, const Tensor4& values) {
    return attend(zeros, zeros, values)(0, 0, 0, 0);
  };
  CHECK(row0(faulty("no-mask"), v) == 2);
  CHECK(row0(faulty("no-mask"), replaced) == 52);
  CHECK(row0(causal_attention, v) == 1);
  CHECK(row0(causal_attention, replaced) == 1);
}

TEST_CASE("leak check: a leak inside a block shows at some cuts only") {
  const auto block_means = [](const NdArray& x) {
    NdArray means = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t block = i / 4 * 4;
      means(i) = (x(block) + x(block + 1) + x(block + 2) + x(block + 3)) / 4;
    }
    return means;
  };
  const NdArray x = cells({1, 2, 3, 4, 5, 6, 7, 8});
  const auto moves = [&](std::size_t cut) {
    return compare_positions(block_means(x),
                             block_means(replace_tokens(x, 0, cut, 8, Replacement::large, 100, 0)),
                             0, 0);
  };
  CHECK(block_means(x)(0) == 2.5F);
  CHECK(moves(4).moved == std::vector<std::uint8_t>{0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(moves(2).moved == std::vector<std::uint8_t>(8, 1));
  CHECK(moves(2).distance[0] == 50);  // 2.5 -> 52.5
}

TEST_CASE("leak check: keys alone show nothing where the query is zero") {
  const Tensor4 q = zero_tokens(2), k = tokens({0, 0}), v = tokens({1, 3});
  const Tensor4 other_k = with_future(k, 1, Replacement::large, 100);
  const Tensor4 other_v = with_future(v, 1, Replacement::large, 100);
  const auto open = faulty("no-mask");
  CHECK(other_bits(open(q, other_k, v), open(q, k, v)) == "");
  CHECK(open(q, other_k, other_v)(0, 0, 0, 0) == 52);
}

TEST_CASE("leak check: one size of replacement hides a missing mask") {
  const Tensor4 q = tokens({1, 1}), v = tokens({1, 3});
  const auto row0 = [&](float future_key) {
    return faulty_attention("no-mask", q, tokens({200, future_key}), v)(0, 0, 0, 0);
  };
  CHECK(row0(0) == 1);  // exp(-200) is 0 in float32
  CHECK(row0(1) == 1);
  CHECK(row0(400) == 3);
}

TEST_CASE("leak check: right causal attention is accused") {
  for (const std::size_t length : Shape{2, 9, 63, 64, 65}) {
    const Inputs x = random_inputs(74, length);
    for (const auto& [kind, magnitude] :
         std::vector<std::pair<Replacement, float>>{{Replacement::random, 1.0F},
                                                    {Replacement::random, 1e4F},
                                                    {Replacement::large, 1e30F},
                                                    {Replacement::large, -1e30F},
                                                    {Replacement::permuted, 1.0F},
                                                    {Replacement::nan, 1.0F}}) {
      for (const std::size_t cut : {std::size_t{1}, length / 2, length - 1}) {
        CAPTURE(length, static_cast<int>(kind), magnitude, cut);
        CHECK_FALSE(any_moved(moves_of(causal_attention, x, cut, kind, magnitude)));
      }
    }
  }
}

// ---- the faults -----------------------------------------------------------------------------

TEST_CASE("fault: a name is missing, or no fault at all") {
  const std::vector<std::string> names = fault_names();
  CHECK(std::set<std::string>(names.begin(), names.end()) ==
        std::set<std::string>{"no-mask", "mask-after-softmax", "diagonal-plus-one",
                              "diagonal-minus-one", "transposed-mask", "finite-sentinel",
                              "block-leak", "tile-leak", "cache-drops-mask", "chunk-ignores-past",
                              "sequence-mean", "one-head-unmasked", "one-batch-row-unmasked"});
  CHECK(names.size() == 13);
  Inputs x = random_inputs(75, 9);
  const Numbers right = right_answer(x);
  CHECK(mismatch(numbers(causal_attention(x.q, x.k, x.v)), right, kContract) == "");
  for (float& key : x.k) {
    key *= 1e5F;  // a finite sentinel needs large scores to be seen
  }
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(mismatch(answer_of(name, x), right_answer(x), {1e-3, 0}) != "");
  }
}

TEST_CASE("fault: not the fault of its name") {
  const Inputs x = random_inputs(76, 9);
  const auto check = [&](const char* name, const Numbers& want) {
    INFO(name);
    CHECK(mismatch(answer_of(name, x), want, kContract) == "");
  };
  const auto always = [](std::size_t, std::size_t) { return true; };
  const Numbers open = attended_where(x, always), right = right_answer(x);
  check("no-mask", open);
  check("diagonal-plus-one",
        attended_where(x, [](std::size_t i, std::size_t j) { return j <= i + 1; }));
  check("diagonal-minus-one",
        attended_where(x, [](std::size_t i, std::size_t j) { return j + 1 <= i; }));
  check("transposed-mask", attended_where(x, [](std::size_t i, std::size_t j) { return i <= j; }));
  check("block-leak", attended_where(x, [](std::size_t i, std::size_t j) {
          return j <= i || (i < 4 && j < 4) || (i >= 4 && i < 8 && j >= 4 && j < 8);
        }));
  check("finite-sentinel", right);  // small scores stay far above -10000
  const std::size_t end_of_tile[] = {4, 4, 4, 4, 8, 8, 8, 8, 9};
  check("tile-leak", attended_where(x, [&](std::size_t i, std::size_t j) {
          return j <= i || j >= end_of_tile[i];
        }));

  // softmax over every key, then the future ones dropped
  const auto passes = oracle::attention(numbers(x.q), numbers(x.k), numbers(x.v));
  Numbers late = open;
  Numbers centred = right;
  Numbers last_head = right, last_row = right;
  for (std::size_t bh = 0; bh < 4; ++bh) {
    for (std::size_t c = 0; c < 4; ++c) {
      double mean = 0;
      for (std::size_t i = 0; i < 9; ++i) {
        mean += right.data[(bh * 9 + i) * 4 + c] / 9;
      }
      for (std::size_t i = 0; i < 9; ++i) {
        const std::size_t here = (bh * 9 + i) * 4 + c;
        late.data[here] = 0;
        for (std::size_t j = 0; j <= i; ++j) {
          late.data[here] += passes.weights.data[(bh * 9 + i) * 9 + j] *
                             static_cast<double>(x.v.data()[(bh * 9 + j) * 4 + c]);
        }
        centred.data[here] -= mean;
        if (bh % 2 == 1) {
          last_head.data[here] = open.data[here];
        }
        if (bh / 2 == 1) {
          last_row.data[here] = open.data[here];
        }
      }
    }
  }
  check("mask-after-softmax", late);
  check("sequence-mean", centred);
  check("one-head-unmasked", last_head);
  check("one-batch-row-unmasked", last_row);
}

TEST_CASE("fault: a leak that replacing the future does not show, or one that is none") {
  const Inputs x = random_inputs(77, 9);
  const auto every_cut = cuts_between(1, 8);
  const std::map<std::string, std::set<std::size_t>> leaks = {
      {"no-mask", every_cut},
      {"mask-after-softmax", every_cut},
      {"diagonal-plus-one", every_cut},
      {"diagonal-minus-one", {}},  // wrong, but blind to the future
      {"transposed-mask", every_cut},
      {"finite-sentinel", {}},  // see below
      {"block-leak", {1, 2, 3, 5, 6, 7}},
      {"tile-leak", every_cut},
      {"cache-drops-mask", {5, 6, 7}},
      {"chunk-ignores-past", {5, 6, 7}},
      {"sequence-mean", every_cut},
      {"one-head-unmasked", every_cut},
      {"one-batch-row-unmasked", every_cut}};
  for (const std::string& name : fault_names()) {
    CAPTURE(name);
    REQUIRE(leaks.count(name) == 1);
    CHECK(leaking_cuts(faulty(name), x, Replacement::random, 1) == leaks.at(name));
  }
  // the wrong diagonal lets one token through, and that is next to the cut
  const Moves next = moves_of(faulty("diagonal-plus-one"), x, 5, Replacement::random, 1);
  CHECK(next.moved == std::vector<std::uint8_t>{0, 0, 0, 0, 1});
}

TEST_CASE("fault: not what a cache does that is fed in chunks with the wrong mask") {
  const Inputs x = random_inputs(80, 12);
  const auto in_chunks = [&](const std::function<AttentionOptions(std::size_t past)>& options) {
    KVCache cache({2, 2, 3, 12});
    Tensor4 whole = Tensor4::from_shape({2, 2, 12, 3});
    for (std::size_t first = 0; first < 12; first += 4) {
      const auto chunk = [&](const Tensor4& tensor) {
        return Tensor4(xt::view(tensor, xt::all(), xt::all(), xt::range(first, first + 4)));
      };
      xt::view(whole, xt::all(), xt::all(), xt::range(first, first + 4)) =
          cached_attention(chunk(x.q), chunk(x.k), chunk(x.k), options(first), cache, {}).output;
    }
    return whole;
  };
  const auto fault = [&](const char* name) { return faulty_attention(name, x.q, x.k, x.k); };

  CHECK(mismatch(numbers(in_chunks([](std::size_t) { return with({}, Causal::square); })),
                 numbers(causal_attention(x.q, x.k, x.k)), kExact) == "");
  CHECK(mismatch(numbers(in_chunks([](std::size_t past) {
                   return with({}, past == 0 ? Causal::square : Causal::none);
                 })),
                 numbers(fault("cache-drops-mask")), kContract) == "");
  CHECK(mismatch(numbers(in_chunks([](std::size_t past) {
                   NdBool mask = xt::ones<std::uint8_t>(Shape{4, past + 4});
                   xt::view(mask, xt::all(), xt::range(0, 4)) = causal_mask(4, 4, Causal::square);
                   return with({mask});
                 })),
                 numbers(fault("chunk-ignores-past")), kContract) == "");
}

TEST_CASE("fault: the leak beyond a tile's edge does not show in a sequence of one tile") {
  const Inputs x = random_inputs(81, 4);
  CHECK(mismatch(answer_of("tile-leak", x), right_answer(x), kContract) == "");
  CHECK(leaking_cuts(faulty("tile-leak"), x, Replacement::random, 1).empty());
}

TEST_CASE("fault: the finite sentinel shows only when large scores climb over it") {
  const Inputs x = random_inputs(78, 9);
  const auto attend = faulty("finite-sentinel");
  CHECK(leaking_cuts(attend, x, Replacement::random, 1).empty());
  CHECK(leaking_cuts(attend, x, Replacement::random, 1e5F) == cuts_between(1, 8));
  // a hidden key of score 0 above a visible one of -50000
  CHECK(attend(tokens({1, 1}), tokens({-50000, 0}), tokens({2, 9}))(0, 0, 0, 0) == 9);
}

TEST_CASE("fault: the leak is in another head or batch row than said") {
  const Inputs x = random_inputs(79, 6);
  const auto moved_parts = [&](const char* name) {
    const Tensor4 before = faulty_attention(name, x.q, x.k, x.v);
    const Tensor4 after =
        faulty_attention(name, x.q, x.k, with_future(x.v, 3, Replacement::large, 10));
    std::set<std::pair<std::size_t, std::size_t>> parts;
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t h = 0; h < 2; ++h) {
        if (before(b, h, 0, 0) != after(b, h, 0, 0)) {
          parts.emplace(b, h);
        }
      }
    }
    return parts;
  };
  using Parts = std::set<std::pair<std::size_t, std::size_t>>;
  CHECK(moved_parts("one-head-unmasked") == Parts{{0, 1}, {1, 1}});
  CHECK(moved_parts("one-batch-row-unmasked") == Parts{{1, 0}, {1, 1}});
}

TEST_CASE("fault: empty dimensions") {
  for (const std::string& name : fault_names()) {
    CAPTURE(name);
    for (const Shape& shape : {Shape{0, 2, 3, 4}, Shape{2, 2, 0, 4}}) {
      const Tensor4 x = Tensor4(xt::ones<float>(shape));
      CHECK(shape_of(faulty_attention(name, x, x, x)) == shape);
    }
  }
}
