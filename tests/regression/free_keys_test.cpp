// More free keys than keys: their difference wrapped around, and every key was masked by rubbish.

#include "catch.hpp"
#include "mask.hpp"
#include "support.hpp"

using namespace softlookup;

TEST_CASE("regression: more free keys than there are keys") {
  for (const std::size_t free_keys : {std::size_t{3}, std::numeric_limits<std::size_t>::max()}) {
    CHECK(refusal(ErrorCode::OPTION, {"free keys", std::to_string(free_keys), "S = 2"}, [=] {
            MaskRule({}, Causal::none, {1, 1, 2, 2}, free_keys);
          }) == "");
  }
  const MaskRule all({}, Causal::bottom_right, {1, 1, 2, 2}, 2);
  CHECK_FALSE(all.hides(0, 0, 0, 1));
}
