#include <emscripten/bind.h>
#include <emscripten/em_macros.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <typeinfo>

// Embind's own file of this content registers every type that C++ knows, and brings JavaScript for
// each. The linker takes it for these two symbols, unless they are there already. Newer releases
// keep more in that file: there it is linked as it is (cmake/wasm.cmake).

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
