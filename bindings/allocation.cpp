#include "allocation.hpp"

#include <cstdlib>
#include <new>

namespace {

/// In front of each block, its size; as long as the strictest alignment, to keep that.
constexpr std::size_t kHeader = alignof(std::max_align_t);

std::size_t allocated = 0;

}  // namespace

namespace softlookup::bindings {

std::size_t allocated_bytes() { return allocated; }

}  // namespace softlookup::bindings

void* operator new(std::size_t size) {
  void* block = std::malloc(kHeader + size);
  if (block == nullptr || kHeader + size < size) {
    throw std::bad_alloc();
  }
  *static_cast<std::size_t*>(block) = size;
  allocated += size;
  return static_cast<char*>(block) + kHeader;
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) {
    void* block = static_cast<char*>(memory) - kHeader;
    allocated -= *static_cast<std::size_t*>(block);
    std::free(block);
  }
}

void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
