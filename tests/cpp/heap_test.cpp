// Counts what is taken from the heap: this program's operator new is the one below.

#include <cstdlib>
#include <new>
#include <vector>

#include "catch.hpp"
#include "flash.hpp"

namespace {

std::size_t taken = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++taken;
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

using namespace softlookup;

namespace {

/// How often a call of `queries` queries over as many keys takes memory.
std::size_t taken_by(std::size_t queries, std::size_t head_dim, Causal causal) {
  const std::vector<float> x(queries * head_dim, 0.5F);
  std::vector<float> y(x.size());
  const View4<const float> in{x.data(), {1, 1, queries, head_dim}};
  AttentionOptions options;
  options.causal = causal;
  const std::size_t before = taken;
  flash_attention(in, in, in, options, {y.data(), in.shape});
  return taken - before;
}

}  // namespace

TEST_CASE("heap: a small call takes nothing from it") {
  for (const Causal causal : {Causal::none, Causal::square}) {
    CHECK(taken_by(1, 64, causal) == 0);
    CHECK(taken_by(4, 2, causal) == 0);
    CHECK(taken_by(4, 16, causal) == 0);
    CHECK(taken_by(12, 8, causal) == 0);
    CHECK(taken_by(300, 16, causal) == 1);  // one piece, whatever the size
  }
}
