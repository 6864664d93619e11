// Reports a failed check of UPGRADER_CHECK, and aborts the program.
#include "base/check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/form.h"
#include "base/no_wait.h"

namespace upgrader {

void check_failed(const char* file, int line) {
  const std::string text = "upgrader: error: a rule of its own is broken: {}:{}\n"_with(file, line);
  struct stat status {};
  if (::fstat(STDERR_FILENO, &status) == 0) {
    static_cast<void>(write_without_waiting(STDERR_FILENO, status.st_mode, text));
  }
  std::abort();
}

}  // namespace upgrader
