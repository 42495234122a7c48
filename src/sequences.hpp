#pragma once

#include "tensor.hpp"

namespace softlookup {

/// Sequences as a caller gives them: query [B, L, Dq], key [B, S, Dk], value [B, S, Dv], all with
/// or all without the batch axis. Throws RANK, SHAPE.
void require_sequences(const Shape& query, const Shape& key, const Shape& value);

}  // namespace softlookup
