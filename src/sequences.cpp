#include "sequences.hpp"

#include "error.hpp"

namespace softlookup {

void require_sequences(const Shape& query, const Shape& key, const Shape& value) {
  const auto require = [&](bool holds, ErrorCode code, const char* rule) {
    if (!holds) {
      fail(code, "query %, key %, value %: %", {query, key, value, rule});
    }
  };
  for (const Shape* shape : {&query, &key, &value}) {
    require(shape->size() == query.size() && shape->size() >= 2 && shape->size() <= 3,
            ErrorCode::RANK, "expected 2 or 3 axes, the same number for all");
  }
  require(query.size() == 2 || (key[0] == query[0] && value[0] == query[0]), ErrorCode::SHAPE,
          "the batch sizes differ");
  require(value[value.size() - 2] == key[key.size() - 2], ErrorCode::SHAPE,
          "key and value must have the same length");
}

}  // namespace softlookup
