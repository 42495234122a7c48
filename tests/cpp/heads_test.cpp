#include "heads.hpp"

#include "attention.hpp"
#include "catch.hpp"
#include "support.hpp"

using namespace softlookup;

TEST_CASE("key/value heads repeated as a list, or each in a row") {
  const Tensor4 v = tensor4({1, 2, 1, 1}, {10, 20});
  CHECK(mismatch(numbers(repeat_kv(v, 2)), {{1, 4, 1, 1}, {10, 10, 20, 20}}, kExact) == "");
  CHECK(other_bits(repeat_kv(v, 1), v) == "");
  CHECK(refusal(ErrorCode::HEADS, {"n = 0", "[1, 2, 1, 1]"}, [&] { repeat_kv(v, 0); }) == "");
}

TEST_CASE("repeat_kv against plain loops") {
  RandomInput random(31);
  const Tensor4 x = random.tensor4({2, 3, 4, 5});
  const Tensor4 y = repeat_kv(x, 4);
  REQUIRE(shape_of(y) == Shape{2, 12, 4, 5});
  bool same = true;
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t h = 0; h < 12; ++h) {
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t e = 0; e < 5; ++e) {
          same = same && y(b, h, i, e) == x(b, h / 4, i, e);
        }
      }
    }
  }
  CHECK(same);
  CHECK(repeat_kv(Tensor4::from_shape({2, 3, 0, 5}), 2).shape(1) == 6);
}

TEST_CASE("grouped queries differ from the same with repeated heads") {
  RandomInput random(32);
  const Tensor4 q = random.tensor4({2, 6, 3, 4});
  const Tensor4 k = random.tensor4({2, 2, 5, 4}), v = random.tensor4({2, 2, 5, 3});
  CHECK(other_bits(attention(q, k, v, {}).output,
                   attention(q, repeat_kv(k, 3), repeat_kv(v, 3), {}).output) == "");
}
