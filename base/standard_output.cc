#include "base/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace upgrader {

int finish_output(std::string_view program, int status, int status_unwritten) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  // The errno of an earlier write that has failed is not known any more.
  const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
  const std::string line = std::string(program) + ": cannot write standard output" + reason + "\n";
  std::fputs(line.c_str(), stderr);
  return status == 0 ? status_unwritten : status;
}

int print_text(std::string_view program, const std::string& text, int status,
               int status_unwritten) {
  std::fputs(text.c_str(), status == 0 ? stdout : stderr);
  return finish_output(program, status, status_unwritten);
}

}  // namespace upgrader
