#pragma once

#include <emscripten/val.h>

namespace softlookup::bindings {

using emscripten::val;

val attend_additive(const val& query, const val& key, const val& value, const val& options);
val trace_additive(const val& query, const val& key, const val& value, const val& options);

val attend_linear(const val& q, const val& k, const val& v, const val& options);

}  // namespace softlookup::bindings
