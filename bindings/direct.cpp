#include <emscripten/em_macros.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <memory>

#include "attention.hpp"
#include "flash.hpp"

// Attention by numbers alone: the call that wants nothing but causality, a scale and its output. No
// object crosses the border. What fails here is asked again of adapters.hpp, which says why.

namespace softlookup::bindings {

namespace {

constexpr std::size_t kSmall = 16384;  // floats; a small call takes no memory for its numbers

std::array<float, kSmall> small_room;
std::unique_ptr<float[]> large_room;
float* room = small_room.data();

}  // namespace

extern "C" {

/// Room for `count` floats, which lasts until the next call of this; null where there is not so
/// much memory.
EMSCRIPTEN_KEEPALIVE float* attentionRoom(std::size_t count) {
  try {
    large_room.reset(count > kSmall ? new float[count] : nullptr);
    room = large_room ? large_room.get() : small_room.data();
    return room;
  } catch (...) {
    return nullptr;
  }
}

/// Attends q [B, H, L, E], k [B, Hkv, S, E] and v [B, Hkv, S, Ev], which lie in the room one after
/// the other, and puts the output behind them; `scale` NaN for the default. Whether it could.
EMSCRIPTEN_KEEPALIVE bool attendInRoom(std::size_t batch, std::size_t heads, std::size_t kv_heads,
                                       std::size_t queries, std::size_t keys, std::size_t head_dim,
                                       std::size_t value_dim, int causal, float scale) {
  try {
    AttentionOptions options;
    options.causal = static_cast<Causal>(causal);
    if (!std::isnan(scale)) {
      options.scale = scale;
    }
    const float* next = room;
    const auto following = [&](std::size_t h, std::size_t length, std::size_t width) {
      const View4<const float> view{next, {batch, h, length, width}};
      next += batch * h * length * width;
      return view;
    };
    const auto q = following(heads, queries, head_dim);
    const auto k = following(kv_heads, keys, head_dim);
    const auto v = following(kv_heads, keys, value_dim);
    flash_attention(q, k, v, options, {room + (next - room), {batch, heads, queries, value_dim}});
    return true;
  } catch (...) {
    return false;
  }
}

}  // extern "C"

}  // namespace softlookup::bindings
