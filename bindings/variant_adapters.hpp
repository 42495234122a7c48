#pragma once

#include "value.hpp"

namespace softlookup::bindings {

void attend_additive(const Value& query, const Value& key, const Value& value,
                     const Value& options);
void trace_additive(const Value& query, const Value& key, const Value& value, const Value& options);

void attend_linear(const Value& q, const Value& k, const Value& v, const Value& options);

}  // namespace softlookup::bindings
