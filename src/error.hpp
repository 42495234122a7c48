#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string_view>

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
  /// The message in parts. Joined out of line: written with + at every throw it made a tenth of the
  /// binary.
  Error(ErrorCode code, std::initializer_list<std::string_view> message);

  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace softlookup
