#pragma once

#include <emscripten/val.h>

namespace softlookup::bindings {

using emscripten::val;

val rotate(const val& x, const val& options);
val make_rope_table(const val& options);

}  // namespace softlookup::bindings
