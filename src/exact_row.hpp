#pragma once

#include <cstddef>

#include "attention.hpp"
#include "mask.hpp"
#include "panels.hpp"

namespace softlookup {

/// Row i of head h of batch row b by the readable form, on the keys that it sees: for what float32
/// cannot hold on the way, and for infinities and NaN that are really seen.
///
/// query [E], keys [S, E], values [Ev, S], output [Ev]
///
/// Not inlined: it is rare, and large beside the loop that calls it.
[[gnu::noinline]] void attend_row(const float* query, std::size_t b, std::size_t h, std::size_t i,
                                  const PanelsView<const float>& keys,
                                  const PanelsView<const float>& values, const MaskRule& rule,
                                  const AttentionOptions& options, float* output);

}  // namespace softlookup
