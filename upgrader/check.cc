#include "upgrader/check.h"

#include <cstdio>
#include <cstdlib>

namespace upgrader {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "upgrader: error: a rule of its own is broken: %s (%s:%d)\n", condition,
               file, line);
  std::abort();
}

}  // namespace upgrader
