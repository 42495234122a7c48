#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "value.hpp"

namespace softlookup::bindings {

/// How JavaScript knows an object of the core. A freed handle is never given out again.
using Handle = std::uint32_t;

/// Objects of every registry that JavaScript has not disposed of.
inline std::size_t live_objects = 0;

/// What a registry does whatever its objects are.
class Handles {
 protected:
  explicit Handles(const char* name) : name_(name) {}

  Handle add(void* object);

  /// Throws DISPOSED.
  [[nodiscard]] void* get(const Value& handle) const;

  /// The object, which the registry knows no longer; null where it was erased before.
  void* erase(const Value& handle);

 private:
  struct Entry {
    Handle handle;
    void* object;
  };

  /// Null where there is none.
  [[nodiscard]] const Entry* find(const Value& handle) const;

  const char* name_;
  std::vector<Entry> entries_;
  Handle last_ = 0;
};

template <class Object>
class Registry : private Handles {
 public:
  explicit Registry(const char* name) : Handles(name) {}

  Handle add(std::unique_ptr<Object> object) {
    const Handle handle = Handles::add(object.get());
    static_cast<void>(object.release());
    return handle;
  }

  /// Throws DISPOSED.
  Object& get(const Value& handle) const { return *static_cast<Object*>(Handles::get(handle)); }

  void erase(const Value& handle) { delete static_cast<Object*>(Handles::erase(handle)); }
};

}  // namespace softlookup::bindings
