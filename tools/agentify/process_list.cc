#include "tools/agentify/process_list.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "base/descriptors.h"
#include "base/owned_fd.h"

namespace agentify {
namespace {

using upgrader::OwnedFd;

// The most bytes that are read of /proc/PID/stat, which is always shorter.
constexpr std::size_t stat_bytes_max = 1024;

// The most ancestors of a process that are read. A longer chain can only mean that processes were
// started and ended meanwhile.
constexpr int parents_max = 4096;

std::optional<Process> look_at(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[stat_bytes_max];
  const ssize_t count = file ? ::read(file.get(), text, sizeof text) : -1;
  if (count <= 0) return std::nullopt;
  return parse_process({text, static_cast<std::size_t>(count)});
}

// Kills this process by a pidfd, so that another process with the same pid cannot be hit. On a
// kernel without pidfds, kills only children of this process: no other process can get the pid of a
// child that has not been reaped.
bool kill_this(const Process& process) {
#ifdef SYS_pidfd_open
  const OwnedFd handle(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (handle) {
    const std::optional<Process> now = look_at(process.pid);
    if (!now || now->started != process.started || now->ended) return false;
    return ::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0) == 0;
  }
  if (errno != ENOSYS && errno != EPERM) return false;
#endif
  return process.parent == ::getpid() && ::kill(process.pid, SIGKILL) == 0;
}

}  // namespace

std::vector<Process> list_processes() {
  std::vector<Process> all;
  for (const pid_t pid : upgrader::numbers_in("/proc")) {
    if (std::optional<Process> process = look_at(pid)) all.push_back(*process);
  }
  return all;
}

bool descends_from(pid_t process, pid_t ancestor) {
  for (int i = 0; i < parents_max && process > 0; ++i) {
    if (process == ancestor) return true;
    const std::optional<Process> looked = look_at(process);
    if (!looked) return false;
    process = looked->parent;
  }
  return false;
}

bool Sweep::round() {
  for (;;) {
    const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
    if (reaped > 0 || (reaped < 0 && errno == EINTR)) continue;
    if (reaped < 0) return true;
    break;
  }
  for (const Process& process : descendants(list_processes(), ::getpid())) {
    if (process.ended || !kill_this(process)) continue;
    if (process.pid != spared_) killed_.insert(process.pid);
  }
  return false;
}

}  // namespace agentify
