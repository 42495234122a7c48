#include "value.hpp"

#include <emscripten/emscripten.h>

#include <array>
#include <limits>
#include <new>

EM_JS(__attribute__((nothrow)) void, take,
      (unsigned array, void* to, unsigned count, unsigned width),
      { Module["border"].take(array, to, count, width); });

namespace softlookup::bindings {

double Value::number() const {
  return is_number() ? content_.number : std::numeric_limits<double>::quiet_NaN();
}

std::string_view Value::text() const {
  return kind_ == Kind::text ? std::string_view(reinterpret_cast<const char*>(within()), size_)
                             : std::string_view();
}

bool Value::is(const char* wanted) const { return kind_ == Kind::text && text() == wanted; }

const Value& Value::get(const char* name) const {
  static const Value undefined;
  const Value* entry = within();  // a name, its value, the next name, ...
  for (std::size_t i = is_object() ? size_ : 0; i > 0; --i, entry += 2) {
    if (entry[0].is(name)) {
      return entry[1];
    }
  }
  return undefined;
}

void Value::copy_to(void* to, std::size_t width) const { take(content_.place, to, size_, width); }

std::uintptr_t message_room(std::size_t bytes) {
  alignas(Value) static std::array<char, 4096> small_room;  // takes no memory for a small message
  static void* large_room = nullptr;
  operator delete(large_room);
  large_room = nullptr;
  if (bytes <= small_room.size()) {
    return reinterpret_cast<std::uintptr_t>(small_room.data());
  }
  large_room = operator new(bytes, std::nothrow);
  return reinterpret_cast<std::uintptr_t>(large_room);
}

}  // namespace softlookup::bindings
