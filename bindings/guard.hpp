#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "value.hpp"

namespace softlookup::bindings {

/// Calls the adapter. Where it throws, gives the error's code and message: no exception crosses the
/// border. Whether it did not throw.
bool guarded(void (*adapter)(const Value* arguments), const Value& message);

/// An adapter as JavaScript calls it, with the list of its arguments.
template <auto adapter>
struct Guarded;

template <class... Arguments, void (*adapter)(Arguments...)>
struct Guarded<adapter> {
  static bool call(std::uintptr_t message) {
    return guarded(&spread, *reinterpret_cast<const Value*>(message));
  }

 private:
  static void spread(const Value* arguments) {
    spread(arguments, std::index_sequence_for<Arguments...>());
  }

  template <std::size_t... places>
  static void spread(const Value* arguments, std::index_sequence<places...> /*places*/) {
    adapter(arguments[places]...);
  }
};

}  // namespace softlookup::bindings
