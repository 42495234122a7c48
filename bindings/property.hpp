#pragma once

#include <emscripten/val.h>

#include <string>

namespace softlookup::bindings {

// val's own templates make a copy for every length of a name; these are one function each, which
// keeps the binary a good deal smaller.

emscripten::val get(const emscripten::val& object, const char* name);
bool has(const emscripten::val& object, const char* name);

void put(emscripten::val& object, const char* name, const emscripten::val& value);
void put(emscripten::val& object, const char* name, double number);
void put(emscripten::val& object, const char* name, const std::string& text);

}  // namespace softlookup::bindings
