#pragma once

#include <emscripten/val.h>

// What JavaScript calls, once guarded (guard.hpp). Each adapter takes and gives plain values and
// throws what the core throws.

namespace softlookup::bindings {

using emscripten::val;

val attend(const val& q, const val& k, const val& v, const val& options);
val trace_attention(const val& q, const val& k, const val& v, const val& options);

val softmax_of(const val& scores, const val& options);
val trace_softmax(const val& scores, const val& options);

val make_causal_mask(const val& queries, const val& keys, const val& alignment);
val make_window_mask(const val& queries, const val& keys, const val& window, const val& alignment);
val make_padding_mask(const val& lengths, const val& keys, const val& side);
val and_masks(const val& masks);
val additive_mask(const val& mask);

// A multi-head attention is known to JavaScript by its handle.
val create_multi_head(const val& config);
val load_multi_head(const val& handle, const val& names, const val& tensors);
val attend_multi_head(const val& handle, const val& query, const val& key, const val& value,
                      const val& options);
val trace_multi_head(const val& handle, const val& query, const val& key, const val& value,
                     const val& options);
val free_multi_head(const val& handle);

val split_into_heads(const val& x, const val& heads);
val merge_from_heads(const val& x);

val replace_sequence_tokens(const val& x, const val& axis, const val& range, const val& kind,
                            const val& magnitude, const val& seed);
val compare_sequences(const val& before, const val& after, const val& axis, const val& tolerance);

val names_of_faults();
val attend_with_fault(const val& fault, const val& q, const val& k, const val& v);
val trace_softmax_then_mask(const val& scores, const val& options);

val sum_rows(const val& x);
val entropies_of_rows(const val& x);
val exponent_of_growth(const val& sizes, const val& values);
val normal_numbers(const val& shape, const val& seed);
val moments_of(const val& x);
val theory_of_dot_products(const val& head_dim, const val& samples);

val count_parameters(const val& layer);
val count_score_memory(const val& size);
val count_kv_cache_memory(const val& size);
val count_operations(const val& size);
val count_decode_operations(const val& size);

val memory_usage();

}  // namespace softlookup::bindings
