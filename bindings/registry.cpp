#include "registry.hpp"

#include "error.hpp"

namespace softlookup::bindings {

Handle Handles::add(void* object) {
  entries_.push_back({last_ + 1, object});
  ++live_objects;
  return ++last_;
}

void* Handles::get(const Value& handle) const {
  const Entry* const found = find(handle);
  if (found == nullptr) {
    fail(ErrorCode::DISPOSED, "this % was disposed", {name_});
  }
  return found->object;
}

void* Handles::erase(const Value& handle) {
  const Entry* const found = find(handle);
  if (found == nullptr) {
    return nullptr;
  }
  void* const object = found->object;
  entries_.erase(entries_.begin() + (found - entries_.data()));
  --live_objects;
  if (entries_.empty()) {
    std::vector<Entry>().swap(entries_);  // memory as before the first object
  }
  return object;
}

const Handles::Entry* Handles::find(const Value& handle) const {
  const auto wanted = static_cast<Handle>(handle.number());
  const Entry* first = entries_.data();  // handles ascend
  for (std::size_t count = entries_.size(); count > 0;) {
    const std::size_t half = count / 2;
    if (first[half].handle == wanted) {
      return &first[half];
    }
    if (first[half].handle < wanted) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return nullptr;
}

}  // namespace softlookup::bindings
