#include "guard.hpp"

#include <exception>
#include <new>
#include <string>

#include "error.hpp"
#include "property.hpp"

namespace softlookup::bindings {

using emscripten::val;

namespace {

val failure(ErrorCode code, const std::string& message) {
  val inner = val::object();
  put(inner, "code", std::string(code_name(code)));
  put(inner, "message", message);
  val outer = val::object();
  put(outer, "failure", inner);
  return outer;
}

}  // namespace

val current_failure() {
  try {
    throw;
  } catch (const Error& error) {
    return failure(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return failure(ErrorCode::OUT_OF_MEMORY, "the WebAssembly memory cannot grow any further");
  } catch (const std::exception& error) {
    return failure(ErrorCode::INTERNAL, error.what());
  } catch (...) {
    return failure(ErrorCode::INTERNAL, "an unknown exception");
  }
}

}  // namespace softlookup::bindings
