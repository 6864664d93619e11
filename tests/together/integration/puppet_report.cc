// Reads /proc/self and asks the kernel. See puppet_report.h.
#include "tests/together/integration/puppet_report.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

namespace puppet {
namespace {

void add(std::string& report, std::string_view key, std::string_view value) {
  report.append(key).append("=").append(value).push_back('\0');
}

void add_descriptors(std::string& report) {
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory)) {
    const int fd = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.' || fd == dirfd(directory)) continue;
    char target[4096];
    const ssize_t size = readlinkat(dirfd(directory), entry->d_name, target, sizeof target);
    add(report, "fd:" + std::to_string(fd),
        std::string_view(target, size < 0 ? 0 : static_cast<std::size_t>(size)));
    add(report, "flags:" + std::to_string(fd), std::to_string(fcntl(fd, F_GETFL)));
    add(report, "cloexec:" + std::to_string(fd), std::to_string(fcntl(fd, F_GETFD) & FD_CLOEXEC));
  }
  closedir(directory);
}

void add_status(std::string& report) {
  const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  char text[8192];
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  std::string_view rest(text, size < 0 ? 0 : static_cast<std::size_t>(size));
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() < rest.size() ? line.size() + 1 : rest.size());
    const std::size_t colon = line.find(":\t");
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    if (name != "SigBlk" && name != "SigIgn" && name != "SigCgt") continue;
    add(report, "status:" + std::string(name), line.substr(colon + 2));
  }
}

}  // namespace

std::string report() {
  std::string report;
  add_descriptors(report);
  add_status(report);
  char directory[4096];
  add(report, "cwd", getcwd(directory, sizeof directory) != nullptr ? directory : "?");
  const mode_t mask = umask(0);
  umask(mask);
  add(report, "umask", std::to_string(mask));
  add(report, "nice", std::to_string(getpriority(PRIO_PROCESS, 0)));
  add(report, "sid", std::to_string(getsid(0)));
  add(report, "pid", std::to_string(getpid()));
  int death_signal = 0;
  prctl(PR_GET_PDEATHSIG, &death_signal);
  add(report, "death_signal", std::to_string(death_signal));
  for (int kind = 0; kind < RLIM_NLIMITS; ++kind) {
    rlimit limit{};
    getrlimit(static_cast<__rlimit_resource_t>(kind), &limit);
    add(report, "limit:" + std::to_string(kind),
        std::to_string(limit.rlim_cur) + "/" + std::to_string(limit.rlim_max));
  }
  for (char** variable = environ; *variable != nullptr; ++variable)
    add(report, "env", *variable);
  return report;
}

}  // namespace puppet
