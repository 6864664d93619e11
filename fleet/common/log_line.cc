#include "fleet/common/log_line.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/shown.h"

namespace fleet {

std::string log_text(std::string_view text) {
  return upgraderctl::cut(upgraderctl::shown(text.substr(0, log_columns_max + 1)), log_columns_max);
}

void log_line(std::string_view program, std::string_view text) {
  const std::string line = std::string(program) + ": " + log_text(text) + "\n";
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

int print_text(std::string_view program, const std::string& text, int status,
               int status_unwritten) {
  std::fputs(text.c_str(), status == 0 ? stdout : stderr);
  const std::string why = end_of_output();
  if (why.empty() || status != 0) return status;
  log_line(program, why);
  return status_unwritten;
}

std::string end_of_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return "";
  return std::string("cannot write standard output: ") + std::strerror(errno != 0 ? errno : EIO);
}

}  // namespace fleet
