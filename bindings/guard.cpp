#include "guard.hpp"

#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include "answer.hpp"
#include "error.hpp"

namespace softlookup::bindings {

namespace {

bool failure(ErrorCode code, std::string_view message) {
  give(std::string_view(code_name(code)));
  give(message);
  return false;
}

bool out_of_memory() {
  return failure(ErrorCode::OUT_OF_MEMORY, "the WebAssembly memory cannot grow any further");
}

}  // namespace

bool guarded(void (*adapter)(const Value* arguments), const Value& message) {
  try {
    adapter(&message[0]);
    return true;
  } catch (const Error& error) {
    return failure(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // more elements than any memory holds
    return out_of_memory();
  } catch (const std::exception& error) {
    return failure(ErrorCode::INTERNAL, error.what());
  } catch (...) {
    return failure(ErrorCode::INTERNAL, "an unknown exception");
  }
}

}  // namespace softlookup::bindings
