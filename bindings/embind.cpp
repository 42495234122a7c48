#include <emscripten/bind.h>

#include "adapters.hpp"
#include "guard.hpp"

// Registration only. The names are those of bindings/js/raw.ts.
EMSCRIPTEN_BINDINGS(softlookup) {
  using namespace softlookup::bindings;
  using emscripten::function;

  function("attend", &Guarded<attend>::call);
  function("traceAttention", &Guarded<trace_attention>::call);
  function("softmaxOf", &Guarded<softmax_of>::call);
  function("traceSoftmax", &Guarded<trace_softmax>::call);
  function("makeCausalMask", &Guarded<make_causal_mask>::call);
  function("makePaddingMask", &Guarded<make_padding_mask>::call);
  function("andMasks", &Guarded<and_masks>::call);
  function("additiveMask", &Guarded<additive_mask>::call);
  function("createMultiHead", &Guarded<create_multi_head>::call);
  function("loadMultiHead", &Guarded<load_multi_head>::call);
  function("attendMultiHead", &Guarded<attend_multi_head>::call);
  function("traceMultiHead", &Guarded<trace_multi_head>::call);
  function("freeMultiHead", &Guarded<free_multi_head>::call);
  function("splitIntoHeads", &Guarded<split_into_heads>::call);
  function("mergeFromHeads", &Guarded<merge_from_heads>::call);
  function("replaceSequenceTokens", &Guarded<replace_sequence_tokens>::call);
  function("compareSequences", &Guarded<compare_sequences>::call);
  function("namesOfFaults", &Guarded<names_of_faults>::call);
  function("attendWithFault", &Guarded<attend_with_fault>::call);
  function("traceSoftmaxThenMask", &Guarded<trace_softmax_then_mask>::call);
  function("sumRows", &Guarded<sum_rows>::call);
  function("normalNumbers", &Guarded<normal_numbers>::call);
  function("momentsOf", &Guarded<moments_of>::call);
  function("theoryOfDotProducts", &Guarded<theory_of_dot_products>::call);
  function("countParameters", &Guarded<count_parameters>::call);
  function("countScoreMemory", &Guarded<count_score_memory>::call);
  function("countKvCacheMemory", &Guarded<count_kv_cache_memory>::call);
  function("countOperations", &Guarded<count_operations>::call);
  function("countDecodeOperations", &Guarded<count_decode_operations>::call);
  function("memoryUsage", &Guarded<memory_usage>::call);
}
