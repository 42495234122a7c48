#pragma once

#include <stdexcept>
#include <string>

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

}  // namespace softlookup
