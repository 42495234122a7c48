#pragma once

#include "value.hpp"

namespace softlookup::bindings {

void rotate(const Value& x, const Value& options);
void make_rope_table(const Value& options);

}  // namespace softlookup::bindings
