// Random numbers, statistics and counts.

#include <cmath>
#include <set>

#include "catch.hpp"
#include "cost.hpp"
#include "error.hpp"
#include "random.hpp"
#include "statistics.hpp"
#include "support.hpp"

using namespace softlookup;

namespace {

std::vector<double> first_numbers(std::uint32_t seed, std::size_t count) {
  NormalNumbers random(seed);
  std::vector<double> drawn(count);
  for (double& number : drawn) {
    number = random.next();
  }
  return drawn;
}

Numbers as_list(const std::vector<double>& data) { return {{data.size()}, data}; }

}  // namespace

TEST_CASE("random: another sequence than on other machines") {
  // from a Mersenne Twister and a Box-Muller transform written apart in Python
  constexpr Tolerance kLastBits{1e-13, 1e-13};  // log and cos may differ in the last bits
  CHECK(mismatch(as_list(first_numbers(0, 3)),
                 list({-0.9142740970406616, 0.45709868532782993, 0.6313224602884433}),
                 kLastBits) == "");
  CHECK(mismatch(as_list(first_numbers(1, 3)),
                 list({1.3223786781134519, 0.7383606671238929, 2.9529164760813393}),
                 kLastBits) == "");
  CHECK(mismatch(as_list(first_numbers(4294967295U, 3)),
                 list({1.6481125509743353, -0.3954445814417433, -0.6790028019597067}),
                 kLastBits) == "");
}

TEST_CASE("random: the same seed gives other numbers, or other seeds the same") {
  CHECK(first_numbers(5, 100) == first_numbers(5, 100));
  std::set<double> firsts;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    firsts.insert(first_numbers(seed, 1)[0]);
  }
  CHECK(firsts.size() == 200);
}

TEST_CASE("random: the numbers are not normal") {
  constexpr double kCount = 10000;
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    double power[5] = {}, together = 0, previous = 0;
    for (const double x : first_numbers(seed, 10000)) {
      double product = 1;
      for (double& sum : power) {
        sum += product / kCount;
        product *= x;
      }
      together += x * previous / kCount;
      previous = x;
      CHECK(std::isfinite(x));
    }
    // five standard errors; the variances of x, x^2, x^3, x^4 are 1, 2, 15, 96
    CHECK(std::abs(power[1]) < 5 * std::sqrt(1 / kCount));
    CHECK(std::abs(power[2] - 1) < 5 * std::sqrt(2 / kCount));
    CHECK(std::abs(power[3]) < 5 * std::sqrt(15 / kCount));
    CHECK(std::abs(power[4] - 3) < 5 * std::sqrt(96 / kCount));
    CHECK(std::abs(together) < 5 * std::sqrt(1 / kCount));  // neighbours are independent
  }
}

TEST_CASE("random: whole numbers leave their range, or miss some of it") {
  NormalNumbers random(9);
  std::size_t counts[6] = {};
  for (int n = 0; n < 6000; ++n) {
    const std::size_t drawn = random.below(6);
    REQUIRE(drawn < 6);
    ++counts[drawn];
  }
  for (const std::size_t count : counts) {
    CHECK(std::abs(static_cast<double>(count) - 1000) < 5 * std::sqrt(6000.0 / 6 * 5 / 6));
  }
  CHECK(random.below(1) == 0);
}

TEST_CASE("moments: n for n - 1, or the mean left in") {
  const Moments found = moments(nd_array({2, 2}, {1, 2, 3, 4}));
  CHECK(mismatch(list({found.mean, found.variance, found.variance_unbiased}),
                 list({2.5, 1.25, 5.0 / 3}), {1e-15, 1e-15}) == "");
  const Moments one = moments(nd_array({1}, {7}));
  CHECK(one.mean == 7);
  CHECK(one.variance == 0);
}

TEST_CASE("moments: a large mean swallows the variance") {
  const Moments found = moments(nd_array({4}, {1e6F + 1, 1e6F + 2, 1e6F + 3, 1e6F + 4}));
  CHECK(mismatch(list({found.mean, found.variance}), list({1e6 + 2.5, 1.25}), {1e-9, 1e-12}) == "");
}

TEST_CASE("dot products: their variance against the theory") {
  for (const double d : {1.0, 4.0, 64.0}) {
    const auto theory = dot_product_moments(d, 10000);
    NormalNumbers random(static_cast<std::uint32_t>(d) + 70);
    NdArray dots = NdArray::from_shape({10000});
    for (float& dot : dots) {
      double sum = 0;
      for (double e = 0; e < d; ++e) {
        const double a = random.next();
        sum += a * random.next();
      }
      dot = static_cast<float>(sum);
    }
    const double variance = moments(dots).variance;
    CHECK(std::abs(variance / theory.variance - 1) < 5 * theory.relative_standard_error);
  }
  CHECK(dot_product_moments(1, 1).kurtosis == 9);
}

TEST_CASE("row entropies: nats for bits, NaN for a weight of 0, or a wrong axis") {
  CHECK(mismatch(numbers(row_entropies(nd_array(
                     {3, 4}, {0.25F, 0.25F, 0.25F, 0.25F, 0.5F, 0.25F, 0.25F, 0, 0, 1, 0, 0}))),
                 list({2, 1.5, 0}), kExact) == "");
}

TEST_CASE("growth: the exponent of a power law, and of one with an outlier") {
  // 3 n^2 over unequal steps; then ln y = 0, 1, 4 ln 2 over ln x = 0, 1, 2 ln 2: slope 2
  CHECK(std::abs(growth_exponent(nd_array({3}, {1, 2, 16}), nd_array({3}, {3, 12, 768})) - 2) <
        1e-12);
  CHECK(std::abs(growth_exponent(nd_array({3}, {1, 2, 4}), nd_array({3}, {1, 2, 16})) - 2) < 1e-12);
}

TEST_CASE("row sums: over the wrong axis") {
  CHECK(mismatch(numbers(row_sums(nd_array({2, 3}, {1, 2, 3, 4, 5, 6}))), list({6, 15}), kExact) ==
        "");
  CHECK(mismatch(numbers(row_sums(nd_array({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}))),
                 reshaped(list({3, 7, 11, 15}), {2, 2}), kExact) == "");
  const NdArray of_vector = row_sums(nd_array({3}, {1, 2, 4}));
  CHECK(of_vector.size() == 1);
  CHECK(of_vector.data()[0] == 7);
  CHECK(mismatch(numbers(row_sums(nd_array({3}, {1e8F, 1, -1e8F}))), {{}, {1}}, kExact) == "");
  CHECK(mismatch(numbers(row_sums(nd_array({2, 0}, {}))), list({0, 0}), kExact) == "");
  CHECK(shape_of(row_sums(nd_array({0, 3}, {}))) == Shape{0});
}

TEST_CASE("costs: a factor is missing (by hand)") {
  // D = 6, 3 query heads and 1 key/value head of 2
  const auto layer = attention_parameters({6, 3, 1, 2, true, true});
  CHECK(layer.query == 6 * 6 + 6);
  CHECK(layer.key == 6 * 2 + 2);
  CHECK(layer.value == 6 * 2 + 2);
  CHECK(layer.output == 6 * 6 + 6);
  CHECK(layer.norms == 4);
  CHECK(layer.total == 42 + 14 + 14 + 42 + 4);
  CHECK(score_elements(5, 3, 2) == 150);
  CHECK(kv_cache_elements(7, 2, 3, 4, 5) == 1680);

  const auto whole = sequence_operations(3, 2);
  CHECK(whole.qkv_projection == 72);
  CHECK(whole.output_projection == 24);
  CHECK(whole.scores == 36);
  CHECK(whole.weighted_sum == 36);
  CHECK(whole.attention == 72);
  CHECK(whole.total == 168);
  CHECK(mismatch(list({whole.attention_share}), list({3.0 / 7}), {1e-15, 0}) == "");

  const auto step = decode_operations(5, 3);
  CHECK(step.projection == 72);
  CHECK(step.attention == 60);
  CHECK(step.total == 132);
}

TEST_CASE("error codes: two share a name, or one has none") {
  const std::vector<std::pair<ErrorCode, std::string>> codes = {
#define X(name, meaning) {ErrorCode::name, #name},
#include "error_codes.def"
#undef X
  };
  std::set<std::string> names;
  for (const auto& [code, name] : codes) {
    CHECK(code_name(code) == name);
    names.insert(code_name(code));
  }
  CHECK(names.size() == codes.size());
  CHECK(names.count("MASK_SHAPE") == 1);
  const Error error(ErrorCode::HEADS, {"five heads"});
  CHECK(error.code() == ErrorCode::HEADS);
  CHECK(std::string(error.what()) == "five heads");
}
