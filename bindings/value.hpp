#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace softlookup::bindings {

/// An argument as JavaScript writes it into the message of a call (js/message.ts): 16 bytes, and
/// what it holds, further on in the message. Nothing of it is freed, so nothing needs unwinding.
class Value {
 public:
  Value() = default;
  Value(const Value&) = delete;  // what it holds is found from where it lies
  Value& operator=(const Value&) = delete;

  [[nodiscard]] bool is_undefined() const { return kind_ == Kind::undefined; }
  [[nodiscard]] bool is_false() const { return kind_ == Kind::no; }
  [[nodiscard]] bool is_true() const { return kind_ == Kind::yes; }
  [[nodiscard]] bool is_number() const { return kind_ == Kind::number; }
  [[nodiscard]] bool is_list() const { return kind_ == Kind::list; }
  [[nodiscard]] bool is_object() const { return kind_ == Kind::object; }

  /// NaN for anything but a number.
  [[nodiscard]] double number() const;

  /// UTF-8; empty for anything but a string.
  [[nodiscard]] std::string_view text() const;

  /// Elements of a list or a typed array, properties of an object.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Of a list.
  const Value& operator[](std::size_t index) const { return within()[index]; }

  /// Whether it is this string.
  [[nodiscard]] bool is(const char* text) const;

  /// The property of an object; undefined where there is none.
  [[nodiscard]] const Value& get(const char* name) const;
  [[nodiscard]] bool has(const char* name) const { return !get(name).is_undefined(); }

  /// A typed array: its elements, converted to the type of `to`, which has room for size() of them.
  template <class Number>
  void copy_to(Number* to) const {
    copy_to(to, sizeof(Number));
  }

  /// Which of the call's typed arrays it is.
  [[nodiscard]] std::uint32_t array() const { return content_.place; }

 private:
  enum class Kind : std::uint32_t { undefined, null, no, yes, number, text, array, list, object };

  [[nodiscard]] const Value* within() const { return this + content_.place; }
  void copy_to(void* to, std::size_t width) const;

  Kind kind_ = Kind::undefined;
  std::uint32_t size_ = 0;
  union {
    double number;
    std::uint32_t place;  // in values, from this one; of a typed array, which one it is
  } content_ = {0};
};
static_assert(sizeof(Value) == 16);

/// Where JavaScript may write a message of so many bytes, until the next call of this; 0 where
/// there is not so much memory.
std::uintptr_t message_room(std::size_t bytes);

}  // namespace softlookup::bindings
