#include "allocation.hpp"

#include <malloc.h>

#include <cstdlib>
#include <new>

namespace {

std::size_t allocated = 0;

}  // namespace

namespace softlookup::bindings {

std::size_t allocated_bytes() { return allocated; }

}  // namespace softlookup::bindings

void* operator new(std::size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  allocated += malloc_usable_size(memory);
  return memory;
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) {
    allocated -= malloc_usable_size(memory);
    std::free(memory);
  }
}

void operator delete(void* memory, std::size_t /*size*/) noexcept { operator delete(memory); }
