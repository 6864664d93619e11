// libFuzzer on what takes bytes from elsewhere: see target.h. PLANTED_FAULT, a number, plants an
// error that it must find.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/releases/target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***);
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const fault = std::getenv("PLANTED_FAULT");
  if (fault != nullptr) {
    releases_target::planted = static_cast<releases_target::Planted>(std::atoi(fault));
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  releases_target::take({reinterpret_cast<const char*>(data), size});
  return 0;
}
