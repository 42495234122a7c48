#pragma once

#include <emscripten/val.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "error.hpp"

namespace softlookup::bindings {

/// How JavaScript knows an object of the core. A freed handle is never given out again.
using Handle = std::uint32_t;

/// Objects of every registry that JavaScript has not disposed of.
inline std::size_t live_objects = 0;

template <class Object>
class Registry {
 public:
  explicit Registry(const char* name) : name_(name) {}

  Handle add(std::unique_ptr<Object> object) {
    objects_.emplace(++last_, std::move(object));
    ++live_objects;
    return last_;
  }

  /// Throws DISPOSED.
  Object& get(const emscripten::val& handle) {
    const auto found = objects_.find(handle.as<Handle>());
    if (found == objects_.end()) {
      throw Error(ErrorCode::DISPOSED, {"this ", name_, " was disposed"});
    }
    return *found->second;
  }

  void erase(const emscripten::val& handle) { live_objects -= objects_.erase(handle.as<Handle>()); }

 private:
  const char* name_;
  std::map<Handle, std::unique_ptr<Object>> objects_;
  Handle last_ = 0;
};

}  // namespace softlookup::bindings
