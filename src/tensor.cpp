#include "tensor.hpp"

#include <limits>

namespace softlookup {

void require_addressable(const ShapeView& shape, const char* what) {
  double bytes = sizeof(float);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    bytes *= static_cast<double>(shape[axis]);
  }
  if (bytes > static_cast<double>(std::numeric_limits<std::ptrdiff_t>::max())) {
    fail(ErrorCode::OUT_OF_MEMORY, "% % does not fit into memory", {what, shape});
  }
}

}  // namespace softlookup
