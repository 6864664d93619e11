#include "fleet/common/log_line.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/no_wait.h"
#include "base/shown.h"

namespace fleet {

std::string log_text(std::string_view text) {
  return upgraderctl::cut(upgraderctl::shown(text.substr(0, log_columns_max + 1)), log_columns_max);
}

void log_line(std::string_view program, std::string_view text) {
  const std::string line = std::string(program) + ": " + log_text(text) + "\n";
  struct stat stream {};
  if (::fstat(STDERR_FILENO, &stream) != 0) return;
  static_cast<void>(upgrader::write_without_waiting(STDERR_FILENO, stream.st_mode, line));
}

}  // namespace fleet
