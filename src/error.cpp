#include "error.hpp"

#include <string>

namespace softlookup {

void Detail::append_to(std::string& message) const {
  switch (kind_) {
    case kText:
      message += static_cast<const char*>(content_.place);
      return;
    case kString:
      message += *static_cast<const std::string*>(content_.place);
      return;
    case kNegative:
      message += '-';
      [[fallthrough]];
    case kNumber:
      message += std::to_string(content_.number);
      return;
    default:
      break;
  }
  const auto* sizes = static_cast<const std::size_t*>(content_.place);
  const char* separator = "[";
  for (std::int32_t axis = 0; axis < kind_; ++axis) {
    message += separator;
    message += std::to_string(std::uint64_t{sizes[axis]});
    separator = ", ";
  }
  message += kind_ == 0 ? "[]" : "]";
}

void fail(ErrorCode code, const char* message, std::initializer_list<Detail> details) {
  std::string text;
  const Detail* next = details.begin();
  for (; *message != '\0'; ++message) {
    if (*message == '%') {
      (next++)->append_to(text);
    } else {
      text += *message;
    }
  }
  throw Error(code, text);
}

const char* code_name(ErrorCode code) {
  static constexpr const char* names[] = {
#define X(name, meaning) #name,
#include "error_codes.def"
#undef X
  };
  return names[static_cast<std::size_t>(code)];
}

}  // namespace softlookup
