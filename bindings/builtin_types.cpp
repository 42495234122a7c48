#ifdef SOFTLOOKUP_BUILTIN_TYPES  // cmake/wasm.cmake

#include <emscripten/bind.h>
#include <emscripten/em_macros.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <typeinfo>

// In the place of Embind's own library, which registers every type that C++ knows.

extern "C" {

EMSCRIPTEN_KEEPALIVE const char* __getTypeName(const std::type_info* type) {
  auto* name = static_cast<char*>(std::malloc(std::strlen(type->name()) + 1));  // JavaScript frees
  return std::strcpy(name, type->name());
}

/// The types of the functions in embind.cpp.
EMSCRIPTEN_KEEPALIVE __attribute__((constructor)) void
__embind_register_native_and_builtin_types() {
  using emscripten::internal::TypeID;
  using Number = unsigned long;
  emscripten::internal::_embind_register_bool(TypeID<bool>::get(), "bool", 1, true, false);
  emscripten::internal::_embind_register_integer(TypeID<Number>::get(), "unsigned long",
                                                 sizeof(Number), 0,
                                                 std::numeric_limits<Number>::max());
}

}  // extern "C"

#endif
