#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace softlookup {

enum class ErrorCode {
#define X(name, meaning) name,
#include "error_codes.def"
#undef X
};

const char* code_name(ErrorCode code);

/// The one exception of the core; what() names the argument, its shape, and the shape expected.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// What a message is filled in with: text, a whole number, or a shape, written "[2, 3, 4]". Refers
/// to what it is made of.
class Detail {
 public:
  Detail(const char* text) : kind_(kText), content_(text) {}
  Detail(const std::string& text) : kind_(kString), content_(&text) {}
  Detail(std::size_t number) : kind_(kNumber), content_(number) {}
  Detail(std::int64_t number)
      : kind_(number < 0 ? kNegative : kNumber),
        content_(number < 0 ? 0 - static_cast<std::uint64_t>(number)
                            : static_cast<std::uint64_t>(number)) {}

  /// A container of sizes.
  template <class Shape,
            class = std::enable_if_t<std::is_same_v<typename Shape::value_type, std::size_t>>>
  Detail(const Shape& shape)
      : kind_(static_cast<std::int32_t>(shape.size())), content_(shape.data()) {}

  void append_to(std::string& message) const;

 private:
  static constexpr std::int32_t kText = -1, kString = -2, kNumber = -3, kNegative = -4;

  std::int32_t kind_;  // or how many sizes
  union Content {
    explicit Content(const void* where) : place(where) {}
    explicit Content(std::uint64_t value) : number(value) {}
    const void* place;
    std::uint64_t number;
  } content_;
};

/// Throws Error; each "%" of the message stands for one detail. Written out at every throw, the
/// joining and the unwinding were a tenth of the binary.
[[noreturn]] void fail(ErrorCode code, const char* message,
                       std::initializer_list<Detail> details = {});

}  // namespace softlookup
