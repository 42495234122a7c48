#pragma once

#include <cstddef>

namespace softlookup::bindings {

/// Bytes that operator new has given out and that were not deleted yet. (Emscripten's mallinfo does
/// not tell in every release.)
std::size_t allocated_bytes();

}  // namespace softlookup::bindings
