#pragma once

#include <string>
#include <vector>

#include "mask.hpp"
#include "tensor.hpp"
#include "trace.hpp"

namespace softlookup {

// Wrong on purpose: what a leak check must catch, and what the page lets a reader catch.

/// Names of the faults, in the order in which they are shown.
std::vector<std::string> fault_names();

/// Causal attention of q, k, v [B, H, L, E] with one named fault. Throws OPTION for an unknown
/// name, and what attention throws.
Tensor4 faulty_attention(const std::string& fault, const Tensor4& q, const Tensor4& k,
                         const Tensor4& v);

/// Softmax over every key first, then zeros where the rule hides: rows no longer sum to 1, and the
/// denominator has seen the hidden keys. In place.
void softmax_then_mask(Tensor4& scores, const MaskRule& rule, Trace* trace = nullptr);

}  // namespace softlookup
