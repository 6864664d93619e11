#include "base/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace upgrader {

namespace {

// Writes to standard error that standard output could not be written, and the reason if `error`, an
// errno value, is not 0.
void complain(std::string_view program, int error) {
  const std::string reason = error != 0 ? std::string(": ") + std::strerror(error) : "";
  const std::string line = std::string(program) + ": cannot write standard output" + reason + "\n";
  std::fputs(line.c_str(), stderr);
}

}  // namespace

int finish_output(std::string_view program, int status, int status_unwritten) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  complain(program, errno);  // errno is 0 if only an earlier write failed
  return status == 0 ? status_unwritten : status;
}

int print_text(std::string_view program, const std::string& text, int status,
               int status_unwritten) {
  errno = 0;
  const bool is_put = std::fputs(text.c_str(), status == 0 ? stdout : stderr) >= 0;
  if (is_put || status != 0) return finish_output(program, status, status_unwritten);
  complain(program, errno);
  return status_unwritten;
}

}  // namespace upgrader
