#pragma once

#include "value.hpp"

// What JavaScript calls, once guarded (guard.hpp). Each adapter takes and gives plain values and
// throws what the core throws.

namespace softlookup::bindings {

void attend(const Value& q, const Value& k, const Value& v, const Value& options);
void trace_attention(const Value& q, const Value& k, const Value& v, const Value& options);

void softmax_of(const Value& scores, const Value& options);
void trace_softmax(const Value& scores, const Value& options);

void make_causal_mask(const Value& queries, const Value& keys, const Value& alignment);
void make_window_mask(const Value& queries, const Value& keys, const Value& window,
                      const Value& alignment);
void make_padding_mask(const Value& lengths, const Value& keys, const Value& side);
void and_masks(const Value& masks);
void additive_mask(const Value& mask);

// A multi-head attention is known to JavaScript by its handle.
void create_multi_head(const Value& config);
void load_multi_head(const Value& handle, const Value& names, const Value& tensors);
void attend_multi_head(const Value& handle, const Value& query, const Value& key,
                       const Value& value, const Value& options);
void trace_multi_head(const Value& handle, const Value& query, const Value& key, const Value& value,
                      const Value& options);
void free_multi_head(const Value& handle);

void split_into_heads(const Value& x, const Value& heads);
void merge_from_heads(const Value& x);

void replace_sequence_tokens(const Value& x, const Value& axis, const Value& range,
                             const Value& kind, const Value& magnitude, const Value& seed);
void compare_sequences(const Value& before, const Value& after, const Value& axis,
                       const Value& tolerance);

void names_of_faults();
void attend_with_fault(const Value& fault, const Value& q, const Value& k, const Value& v);
void trace_softmax_then_mask(const Value& scores, const Value& options);

void sum_rows(const Value& x);
void entropies_of_rows(const Value& x);
void exponent_of_growth(const Value& sizes, const Value& values);
void normal_numbers(const Value& shape, const Value& seed);
void moments_of(const Value& x);
void theory_of_dot_products(const Value& head_dim, const Value& samples);

void count_parameters(const Value& layer);
void count_score_memory(const Value& size);
void count_kv_cache_memory(const Value& size);
void count_operations(const Value& size);
void count_decode_operations(const Value& size);

void memory_usage();

}  // namespace softlookup::bindings
