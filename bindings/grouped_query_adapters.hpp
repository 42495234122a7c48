#pragma once

#include <emscripten/val.h>

namespace softlookup::bindings {

using emscripten::val;

// Known to JavaScript by their handles.

val create_kv_cache(const val& size);
val cache_lengths(const val& handle);
val append_to_cache(const val& handle, const val& k, const val& v, const val& options);
val attend_cached(const val& handle, const val& q, const val& k, const val& v, const val& options);
val drop_oldest_of_cache(const val& handle, const val& count);
val reset_cache(const val& handle);
val grow_cache(const val& handle, const val& capacity);
val free_kv_cache(const val& handle);

val create_grouped_query(const val& config);
val load_grouped_query(const val& handle, const val& names, const val& tensors);
val attend_grouped_query(const val& handle, const val& x, const val& options);
val trace_grouped_query(const val& handle, const val& x, const val& options);
val free_grouped_query(const val& handle);

}  // namespace softlookup::bindings
