#include "value.hpp"

#include <emscripten/emscripten.h>

#include <array>
#include <limits>
#include <vector>

EM_JS(void, take, (unsigned array, void* to, unsigned count, unsigned width),
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
  constexpr std::size_t kSmall = 256;  // values; a small message takes no memory
  static std::array<Value, kSmall> small_room;
  static std::vector<Value> large_room;
  const std::size_t values = bytes / sizeof(Value);
  try {
    large_room = values > kSmall ? std::vector<Value>(values) : std::vector<Value>();
  } catch (...) {
    return 0;
  }
  return reinterpret_cast<std::uintptr_t>(values > kSmall ? large_room.data() : small_room.data());
}

}  // namespace softlookup::bindings
