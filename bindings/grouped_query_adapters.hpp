#pragma once

#include "value.hpp"

namespace softlookup::bindings {

// Known to JavaScript by their handles.

void create_kv_cache(const Value& size);
void cache_lengths(const Value& handle);
void append_to_cache(const Value& handle, const Value& k, const Value& v, const Value& options);
void attend_cached(const Value& handle, const Value& q, const Value& k, const Value& v,
                   const Value& options);
void drop_oldest_of_cache(const Value& handle, const Value& count);
void reset_cache(const Value& handle);
void grow_cache(const Value& handle, const Value& capacity);
void free_kv_cache(const Value& handle);

void create_grouped_query(const Value& config);
void load_grouped_query(const Value& handle, const Value& names, const Value& tensors);
void attend_grouped_query(const Value& handle, const Value& x, const Value& options);
void trace_grouped_query(const Value& handle, const Value& x, const Value& options);
void free_grouped_query(const Value& handle);

}  // namespace softlookup::bindings
