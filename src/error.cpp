#include "error.hpp"

namespace softlookup {

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
