#include "tensor.hpp"

#include <limits>

namespace softlookup {

void require_addressable(const std::size_t* sizes, std::size_t rank, const char* what) {
  double bytes = sizeof(float);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    bytes *= static_cast<double>(sizes[axis]);
  }
  if (bytes > static_cast<double>(std::numeric_limits<std::ptrdiff_t>::max())) {
    fail(ErrorCode::OUT_OF_MEMORY, "% % does not fit into memory",
         {what, Shape(sizes, sizes + rank)});
  }
}

}  // namespace softlookup
