#include "property.hpp"

namespace softlookup::bindings {

using emscripten::val;

__attribute__((noinline)) val get(const val& object, const char* name) { return object[name]; }

__attribute__((noinline)) bool has(const val& object, const char* name) {
  return !object[name].isUndefined();
}

__attribute__((noinline)) void put(val& object, const char* name, const val& value) {
  object.set(name, value);
}

__attribute__((noinline)) void put(val& object, const char* name, double number) {
  object.set(name, number);
}

__attribute__((noinline)) void put(val& object, const char* name, const std::string& text) {
  object.set(name, text);
}

}  // namespace softlookup::bindings
