#include <set>
#include <string>

#include "catch.hpp"
#include "golden.hpp"

TEST_CASE("golden: a case is skipped in silence", "[slow]") {
  const std::set<std::string> families = golden_families();
  for (const std::string& family : kGoldenTests) {
    INFO(family);
    CHECK(families.count(family) == 1);
  }
  for (const std::string& family : families) {
    std::set<std::string> names;
    for (const GoldenCase& golden : read_golden(family)) {
      names.insert(golden.name);
    }
    const auto listed = not_yet_covered().find(family);
    if (listed != not_yet_covered().end()) {
      for (const auto& [name, reason] : listed->second) {
        INFO(family << " / " << name << " is listed as not yet covered and does not exist");
        CHECK(names.count(name) == 1);
      }
    }
    if (kGoldenTests.count(family) == 0) {  // run_golden sees to the others
      INFO(family << " is run by no test: all of its cases are to be listed");
      REQUIRE(listed != not_yet_covered().end());
      CHECK(listed->second.size() == names.size());
    }
  }
}

TEST_CASE("golden: a case is left out without a reason") {
  CHECK_FALSE(not_yet_covered().empty());
  for (const auto& [family, cases] : not_yet_covered()) {
    for (const auto& [name, reason] : cases) {
      INFO(family << " / " << name);
      CHECK(reason.size() > 20);
    }
  }
}
