// A broken rule of our own is told, and ends the program.
#include "upgrader/core/check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "upgrader/shell/no_wait.h"

namespace upgrader {

void check_failed(const char* condition, const char* file, int line) {
  const std::string place = std::string(file) + ":" + std::to_string(line);
  const std::string text = std::string("upgrader: error: a rule of its own is broken: ") +
                           condition + " (" + place + ")\n";
  struct stat status {};
  if (::fstat(STDERR_FILENO, &status) == 0) {
    static_cast<void>(write_without_waiting(STDERR_FILENO, status.st_mode, text));
  }
  std::abort();
}

}  // namespace upgrader
