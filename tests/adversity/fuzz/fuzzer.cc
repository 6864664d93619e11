// Passes libFuzzer's inputs to the fuzz target that the environment variable FUZZ_TARGET names.
#include <cstdio>
#include <cstdlib>

#include "tests/adversity/fuzz/target.h"

namespace {

const fuzz::Target* target = nullptr;

void report_comparisons() {
  std::fprintf(stderr, "comparisons: %llu\n", static_cast<unsigned long long>(fuzz::comparisons));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***);
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const name = std::getenv("FUZZ_TARGET");
  target = fuzz::find_target(name == nullptr ? "" : name);
  if (target == nullptr) {
    std::fputs("FUZZ_TARGET must be one of:", stderr);
    for (const fuzz::Target& known : fuzz::targets())
      std::fprintf(stderr, " %s", known.name.data());
    std::fputs("\n", stderr);
    std::exit(2);
  }
  std::atexit(report_comparisons);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  try {
    target->take({reinterpret_cast<const char*>(data), size});
  } catch (const fuzz::Finding& finding) {
    std::fprintf(stderr, "finding: %s\n", finding.what.c_str());
    std::abort();
  }
  return 0;
}
