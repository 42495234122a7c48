#pragma once

#include <emscripten/val.h>

namespace softlookup::bindings {

/// The exception being handled, as { failure: { code, message } }.
emscripten::val current_failure();

/// An adapter that answers with a failure where it would throw: no exception crosses the border.
template <auto adapter>
struct Guarded;

template <class... Arguments, emscripten::val (*adapter)(Arguments...)>
struct Guarded<adapter> {
  static emscripten::val call(Arguments... arguments) {
    try {
      return adapter(arguments...);
    } catch (...) {
      return current_failure();
    }
  }
};

}  // namespace softlookup::bindings
