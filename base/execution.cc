#include "base/execution.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "base/errno_name.h"

namespace upgrader {

bool executions_can_be_seen() {
  struct stat status {};
  return ::lstat("/proc/self", &status) == 0;
}

Runs what_runs(pid_t pid, const Program& program) {
  const std::string process = "/proc/{}"_with(pid);
  struct stat status {};
  if (::stat("{}/exe"_with(process).c_str(), &status) == 0) {
    return program.is_file(status.st_dev, status.st_ino) ? Runs::program : Runs::another;
  }
  // One that is about to end runs nothing any more.
  const bool ends = errno == ENOENT && ::stat(process.c_str(), &status) == 0;
  return ends ? Runs::program : Runs::unknown;
}

}  // namespace upgrader
