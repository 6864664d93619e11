#include "tests/adversity/fault/calls.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <map>

namespace fault {
namespace {

const std::map<long, const char*>& names() {
#define CALL(name) \
  { SYS_##name, #name }
  static const std::map<long, const char*> table = {
      CALL(read),         CALL(write),          CALL(close),      CALL(openat),
      CALL(newfstatat),   CALL(fstat),          CALL(lseek),      CALL(mmap),
      CALL(mprotect),     CALL(munmap),         CALL(mremap),     CALL(brk),
      CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(ioctl),      CALL(pread64),
      CALL(pwrite64),     CALL(getpid),         CALL(gettid),     CALL(tgkill),
      CALL(kill),         CALL(sendto),         CALL(socket),     CALL(clone),
      CALL(clone3),       CALL(execve),         CALL(execveat),   CALL(exit_group),
      CALL(exit),         CALL(wait4),          CALL(waitid),     CALL(fcntl),
      CALL(flock),        CALL(fsync),          CALL(sync),       CALL(syncfs),
      CALL(ftruncate),    CALL(getcwd),         CALL(readlinkat), CALL(symlinkat),
      CALL(unlinkat),     CALL(renameat),       CALL(renameat2),  CALL(faccessat),
      CALL(faccessat2),   CALL(getdents64),     CALL(prlimit64),  CALL(set_robust_list),
      CALL(setsid),       CALL(dup3),           CALL(pipe2),      CALL(eventfd2),
      CALL(signalfd4),    CALL(epoll_create1),  CALL(epoll_ctl),  CALL(epoll_pwait),
      CALL(ppoll),        CALL(futex),          CALL(getrandom),  CALL(clock_gettime),
      CALL(close_range),  CALL(madvise),        CALL(prctl),      CALL(restart_syscall),
      CALL(statx),        CALL(getppid),        CALL(pwritev2),   CALL(splice),
      CALL(mknodat),      CALL(mkdirat),        CALL(fstatfs),    CALL(geteuid),
      CALL(sched_yield),  CALL(fdatasync),      CALL(fchmod),
#ifdef SYS_open
      CALL(open),         CALL(stat),           CALL(lstat),      CALL(access),
      CALL(readlink),     CALL(poll),           CALL(epoll_wait), CALL(dup2),
      CALL(fork),         CALL(vfork),          CALL(pipe),       CALL(rename),
      CALL(unlink),       CALL(symlink),        CALL(arch_prctl), CALL(mkdir),
      CALL(chmod),
#endif
  };
#undef CALL
  return table;
}

// The size in bytes of a child's report that its exec has failed. A read of this size from a pipe
// is recognized as the read of such a report.
constexpr unsigned long report_bytes = 8;

// Returns the kind of the file with this name, if it is a file that the upgrader keeps for
// --control, --previous or --attempts, or a temporary replacement of such a file. Returns "" for
// any other file.
std::string kind_of_kept(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  const auto is_of = [last](std::string_view kept) {
    return last.find(kept) != std::string_view::npos;
  };
  if (is_of("status.json") || is_of("previous.json")) return ".news";
  if (is_of("previous.attempts")) return ".attempts";
  if (last == "previous" || last == ".previous.upgrader") return ".previous";
  if (last == ".lock") return ".control-lock";
  if (name == "control" || name.ends_with("/control/control")) return ".fifo";
  return name.ends_with("/control") ? ".control" : "";
}

std::string kind_of_stream(const RawCall& call, const std::string& log) {
  const std::string target = target_of(call.pid, call.args[0]);
  if (call.args[0] == 2 || target == log) return ".log";
  if (target.find("[signalfd]") != std::string::npos) return ".signals";
  if (target.starts_with("/proc/")) return ".proc";
  const std::string kept = kind_of_kept(target);
  if (!kept.empty()) return kept;
  if (!target.starts_with("pipe:")) return ".file";
  if (call.args[2] == 1) return ".libuv";
  return call.args[2] == report_bytes ? ".report" : ".agent";
}

// Returns the kind of the file that a system call uses. `target` is the file's path: an argument of
// the call, or the path of a descriptor that is an argument of the call.
std::string kind_of_file(const std::string& target, const std::string& log) {
  if (target == log || target.starts_with("/proc/self/fd/")) return ".log";
  if (target.starts_with("/proc/")) return ".proc";
  if (target.ends_with("/lock")) return ".lock";
  const std::string kept = kind_of_kept(target);
  if (!kept.empty()) return kept;
  if (target.ends_with("/adapter")) return ".adapter";
  // To start an agent, the upgrader may need the dynamic loader, and also the puppet (the tests'
  // agent program), which is the interpreter if the agent is a script.
  if (target.find("/ld-") != std::string::npos || target.ends_with("/puppet")) return ".loader";
  struct stat status {};
  return stat(target.c_str(), &status) == 0 && S_ISDIR(status.st_mode) ? ".directory" : ".program";
}

std::string text_of(const RawCall& call, int argument) {
  const std::string bytes = bytes_of(call.pid, call.args[argument], PATH_MAX);
  return bytes.substr(0, bytes.find('\0'));
}

std::string kind_of_path(const RawCall& call, const std::string& log) {
  const std::string path = text_of(call, 1);
  return kind_of_file(path.empty() ? target_of(call.pid, call.args[0]) : path, log);
}

std::string kind_of_control(const RawCall& call) {
  switch (call.args[1]) {
    case F_GETFD:
      return ".getfd";
    case F_SETFD:
      return ".setfd";
    case F_GETFL:
      return ".getfl";
    case F_SETFL:
      return ".setfl";
    case F_DUPFD_CLOEXEC:
      return ".dupfd";
    default:
      return ".other";
  }
}

std::string kind_of_poll_change(const RawCall& call) {
  constexpr const char* kinds[] = {".other", ".add", ".del", ".mod"};
  return kinds[call.args[1] <= 3 ? call.args[1] : 0];
}

}  // namespace

std::string name_of(const RawCall& call, const std::string& log) {
  const auto found = names().find(call.number);
  if (found == names().end()) return "";
  const std::string name = found->second;
  if (name == "read" || name == "write") return name + kind_of_stream(call, log);
  if (name == "sendto") {
    return name + (target_of(call.pid, call.args[0]) == log ? ".log" : ".init");
  }
  if (name == "openat" || name == "newfstatat" || name == "faccessat2") {
    return name + kind_of_path(call, log);
  }
  if (name == "execve" && text_of(call, 0).ends_with("/adapter")) return name + ".adapter";
  // The upgrader may execute the adapter, a program that runs instead of the agent, through a
  // descriptor. This descriptor's link in /proc leads to the adapter's path. If the adapter's file
  // has been replaced, the text " (deleted)" follows the path.
  if (name == "execveat" &&
      target_of(call.pid, call.args[0]).find("/adapter") != std::string::npos) {
    return name + ".adapter";
  }
  if (name == "fcntl") return name + kind_of_control(call);
  if (name == "epoll_ctl") return name + kind_of_poll_change(call);
  if (name == "fsync" || name == "fdatasync" || name == "lseek" || name == "pread64") {
    return name + kind_of_file(target_of(call.pid, call.args[0]), log);
  }
  if (name == "flock") return name + kind_of_kept(target_of(call.pid, call.args[0]));
  if (name == "readlinkat" || name == "unlinkat") return name + kind_of_kept(text_of(call, 1));
  if (name == "symlinkat") return name + kind_of_kept(text_of(call, 2));
  if (name == "renameat") return name + kind_of_kept(text_of(call, 3));
  if (name == "ioctl") return name + (call.args[1] == 0x541B ? ".held" : ".nonblock");
  return name;
}

std::string target_of(pid_t pid, unsigned long fd) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(fd);
  char text[PATH_MAX];
  const ssize_t size = readlink(path.c_str(), text, sizeof text);
  return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::string error_name(int error) {
  const char* name = strerrorname_np(error);
  return name != nullptr ? name : "?";
}

int error_number(std::string_view name) {
  constexpr int errors_max = 133;
  for (int error = 1; error <= errors_max; ++error) {
    if (error_name(error) == name) return error;
  }
  return 0;
}

std::string bytes_of(pid_t pid, unsigned long address, std::size_t size) {
  constexpr unsigned long page = 4096;
  std::string text;
  // Each read from the memory of the process ends at the end of a page at the latest, since the
  // next page may not be mapped.
  while (text.size() < size) {
    char part[page];
    const unsigned long at = address + text.size();
    const std::size_t wanted = std::min(size - text.size(), page - at % page);
    iovec here{part, wanted};
    iovec there{reinterpret_cast<void*>(at), wanted};
    const ssize_t count = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (count <= 0) break;
    text.append(part, static_cast<std::size_t>(count));
    // A caller that asks for PATH_MAX bytes wants a path, which ends at the first NUL.
    if (size == PATH_MAX && text.find('\0') != std::string::npos) break;
  }
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string_view part = text.substr(0, end);
    while (!part.empty() && part.front() == ' ')
      part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ')
      part.remove_suffix(1);
    if (!part.empty() || separator != ' ') parts.emplace_back(part);
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace fault
