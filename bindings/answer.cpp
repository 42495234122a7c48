#include "answer.hpp"

#include <emscripten/emscripten.h>

// Functions of the border (js/border.ts), which throw nothing.
#define BORDER_FUNCTION(name, parameters, ...) \
  EM_JS(__attribute__((nothrow)) void, name, parameters, { Module["border"].__VA_ARGS__; })

BORDER_FUNCTION(give_undefined, (), nothing())
BORDER_FUNCTION(give_number, (double number), number(number))
BORDER_FUNCTION(give_flag, (bool flag), flag(flag))
BORDER_FUNCTION(give_text, (const char* text, unsigned size), text(text, size))
BORDER_FUNCTION(give_array, (const void* data, unsigned count, unsigned width),
                array(data, count, width))
BORDER_FUNCTION(give_into, (unsigned out, const void* data, unsigned count), into(out, data, count))
BORDER_FUNCTION(gather_list, (unsigned count), list(count))
BORDER_FUNCTION(gather_object, (const char* names), object(names))

namespace softlookup::bindings {

void give_nothing() noexcept { give_undefined(); }
void give(double number) noexcept { give_number(number); }
void give_size(std::size_t size) noexcept { give(static_cast<double>(size)); }
void give(bool flag) noexcept { give_flag(flag); }
void give(std::string_view text) noexcept { give_text(text.data(), text.size()); }

void give_array(const float* data, std::size_t count) noexcept {
  ::give_array(data, count, sizeof(float));
}

void give_array(const std::uint8_t* data, std::size_t count) noexcept {
  ::give_array(data, count, 1);
}

void give_into(const Value& out, const float* data, std::size_t count) noexcept {
  ::give_into(out.array(), data, count);
}

void give_sizes(const std::size_t* sizes, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    give_size(sizes[i]);
  }
  give_list(count);
}

void give_list(std::size_t count) noexcept { gather_list(count); }
void give_object(const char* names) noexcept { gather_object(names); }

}  // namespace softlookup::bindings
