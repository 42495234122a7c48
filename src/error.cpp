#include "error.hpp"

#include <string>

namespace softlookup {

namespace {

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    text += part;
  }
  return text;
}

}  // namespace

Error::Error(ErrorCode code, std::initializer_list<std::string_view> message)
    : std::runtime_error(joined(message)), code_(code) {}

const char* code_name(ErrorCode code) {
  switch (code) {
#define X(name, meaning) \
  case ErrorCode::name:  \
    return #name;
#include "error_codes.def"
#undef X
  }
  return "INTERNAL";
}

}  // namespace softlookup
