// libFuzzer on what takes bytes from elsewhere: see target.h.
#include <cstddef>
#include <cstdint>

#include "tests/releases/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  releases_target::take({reinterpret_cast<const char*>(data), size});
  return 0;
}
