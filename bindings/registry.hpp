#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "error.hpp"
#include "value.hpp"

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
    objects_.push_back({++last_, std::move(object)});
    ++live_objects;
    return last_;
  }

  /// Throws DISPOSED.
  Object& get(const Value& handle) {
    const auto found = find(handle);
    if (found == objects_.end()) {
      fail(ErrorCode::DISPOSED, "this % was disposed", {name_});
    }
    return *found->second;
  }

  void erase(const Value& handle) {
    const auto found = find(handle);
    if (found != objects_.end()) {
      objects_.erase(found);
      --live_objects;
      if (objects_.empty()) {
        std::vector<Entry>().swap(objects_);  // memory as before the first object
      }
    }
  }

 private:
  using Entry = std::pair<Handle, std::unique_ptr<Object>>;

  /// Handles ascend.
  typename std::vector<Entry>::iterator find(const Value& handle) {
    const auto wanted = static_cast<Handle>(handle.number());
    const auto found =
        std::lower_bound(objects_.begin(), objects_.end(), wanted,
                         [](const Entry& entry, Handle value) { return entry.first < value; });
    return found != objects_.end() && found->first == wanted ? found : objects_.end();
  }

  const char* name_;
  std::vector<Entry> objects_;
  Handle last_ = 0;
};

}  // namespace softlookup::bindings
