#include "answer.hpp"

#include <emscripten/emscripten.h>

EM_JS(void, give_undefined, (), { Module["border"].nothing(); });
EM_JS(void, give_number, (double number), { Module["border"].number(number); });
EM_JS(void, give_flag, (bool flag), { Module["border"].flag(flag); });
EM_JS(void, give_text, (const char* text, unsigned size), { Module["border"].text(text, size); });
EM_JS(void, give_array, (const void* data, unsigned count, unsigned width),
      { Module["border"].array(data, count, width); });
EM_JS(void, give_into, (unsigned out, const void* data, unsigned count),
      { Module["border"].into(out, data, count); });
EM_JS(void, gather_list, (unsigned count), { Module["border"].list(count); });
EM_JS(void, gather_object, (const char* names), { Module["border"].object(names); });

namespace softlookup::bindings {

void give_nothing() { give_undefined(); }
void give(double number) { give_number(number); }
void give_size(std::size_t size) { give(static_cast<double>(size)); }
void give(bool flag) { give_flag(flag); }
void give(std::string_view text) { give_text(text.data(), text.size()); }

void give_array(const float* data, std::size_t count) { ::give_array(data, count, sizeof(float)); }

void give_array(const std::uint8_t* data, std::size_t count) { ::give_array(data, count, 1); }

void give_into(const Value& out, const float* data, std::size_t count) {
  ::give_into(out.array(), data, count);
}

void give_sizes(const std::size_t* sizes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    give_size(sizes[i]);
  }
  give_list(count);
}

void give_list(std::size_t count) { gather_list(count); }
void give_object(const char* names) { gather_object(names); }

}  // namespace softlookup::bindings
