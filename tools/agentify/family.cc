#include "tools/agentify/family.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "base/descriptors.h"
#include "base/owned_fd.h"
#include "base/signals.h"

namespace agentify {
namespace {

constexpr int state_field = 3;
constexpr int parent_field = 4;
constexpr int threads_field = 20;
constexpr int start_field = 22;

template <class Number>
bool take_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end != text.data();
}

}  // namespace

std::string in_words(const DaemonEnding& ending) {
  switch (ending.how) {
    case DaemonEnding::How::exited:
      return "exited with status " + std::to_string(ending.value);
    case DaemonEnding::How::signalled:
      return "was killed by " + upgrader::signal_name(ending.value);
    case DaemonEnding::How::unknown:
      return "ended in an unknown way";
  }
  return "";
}

std::optional<Process> parse_process(std::string_view stat) {
  Process process;
  if (!take_number(stat, process.pid)) return std::nullopt;
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 > stat.size()) return std::nullopt;
  std::string_view rest = stat.substr(name_end + 2);
  for (int field = state_field; field <= start_field; ++field) {
    if (rest.empty()) return std::nullopt;
    if (field == state_field) {
      process.ended = rest[0] == 'Z' || rest[0] == 'X';
      process.busy = rest[0] == 'R' || rest[0] == 'D';
    }
    if (field == parent_field && !take_number(rest, process.parent)) return std::nullopt;
    if (field == threads_field) {
      // The state in /proc/PID/stat is that of the main thread. If a process has other threads, it
      // continues to run after its main thread has ended.
      int threads = 0;
      if (!take_number(rest, threads)) return std::nullopt;
      if (threads > 1) process.ended = false;
    }
    if (field == start_field && !take_number(rest, process.started)) return std::nullopt;
    const std::size_t blank = rest.find(' ');
    rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
  }
  return process;
}

std::vector<Process> descendants(const std::vector<Process>& all, pid_t ancestor) {
  std::vector<Process> found;
  std::vector<pid_t> parents = {ancestor};
  while (!parents.empty()) {
    std::vector<pid_t> next;
    for (const Process& process : all) {
      if (process.pid == ancestor || process.pid == process.parent) continue;
      const bool child = std::find(parents.begin(), parents.end(), process.parent) != parents.end();
      const bool known = std::any_of(found.begin(), found.end(), [&process](const Process& other) {
        return other.pid == process.pid;
      });
      if (!child || known) continue;
      found.push_back(process);
      next.push_back(process.pid);
    }
    parents = std::move(next);
  }
  return found;
}

pid_t heir(const std::vector<Process>& all, pid_t keeper) {
  const Process* oldest = nullptr;
  for (const Process& process : all) {
    if (process.parent != keeper || process.ended) continue;
    if (oldest == nullptr || process.started < oldest->started ||
        (process.started == oldest->started && process.pid < oldest->pid)) {
      oldest = &process;
    }
  }
  return oldest == nullptr ? 0 : oldest->pid;
}

// ---- reading the processes from /proc

namespace {

using upgrader::OwnedFd;

// The most bytes that are read from /proc/PID/stat, which is always shorter.
constexpr std::size_t stat_bytes_max = 1024;

// The most ancestors of a process that are read. No process has more ancestors, but it can seem to
// have more if ancestors exit while they are read.
constexpr int parents_max = 4096;

// The most times that find_heir() lists the processes. It needs many lists only if processes fork
// and exit again and again. The number is limited because the keeper (the daemon's parent process)
// obeys no order meanwhile.
constexpr int lists_max = 64;

// Kills `process` through a pidfd, so that a foreign process that has got the same pid cannot be
// hit. On a kernel without pidfds, kills only children of the calling process, because nobody else
// can get the pid of a child that has not been reaped.
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

std::optional<Process> look_at(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[stat_bytes_max];
  const ssize_t count = file ? ::read(file.get(), text, sizeof text) : -1;
  if (count <= 0) return std::nullopt;
  return parse_process({text, static_cast<std::size_t>(count)});
}

std::vector<Process> list_processes() {
  std::vector<Process> all;
  for (const pid_t pid : upgrader::numbers_in("/proc")) {
    if (std::optional<Process> process = look_at(pid)) all.push_back(*process);
  }
  return all;
}

// Finds a living child of the keeper, the daemon's parent process. A single list is not enough:
// while `list` reads /proc, a child may fork and exit, and the list may lack the child's own child.
// The child is then a zombie that no earlier list has shown, so the processes are listed again. If
// a list shows neither a living child nor a new zombie, no process of the daemon was alive when the
// list began.
pid_t find_heir(pid_t keeper, const std::function<std::vector<Process>()>& list) {
  std::set<pid_t> ended;
  for (int round = 0; round < lists_max; ++round) {
    const std::vector<Process> all = list();
    if (const pid_t found = heir(all, keeper); found != 0) return found;
    bool newly_ended = false;
    for (const Process& process : all) {
      if (process.parent == keeper && ended.insert(process.pid).second) newly_ended = true;
    }
    if (!newly_ended) break;
  }
  return 0;
}

bool is_living(pid_t process) {
  const std::optional<Process> looked = look_at(process);
  return looked && !looked->ended;
}

bool descends_from(pid_t process, pid_t ancestor,
                   const std::function<std::optional<Process>(pid_t)>& look) {
  pid_t way = process;
  pid_t missing = process;
  for (int i = 0; i < parents_max && way > 0; ++i) {
    if (way == ancestor) return true;
    const std::optional<Process> looked = look(way);
    // If the process `way` has exited meanwhile, its child has another parent now, so begin again.
    // If the same process is missing a second time, it has not exited: /proc hides it from this
    // user.
    if (!looked && way == missing) return false;
    if (!looked) missing = way;
    way = looked ? looked->parent : process;
  }
  return false;
}

bool Sweep::round() {
  bool progressed = false;
  for (;;) {
    const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
    if (reaped > 0) progressed = true;
    if (reaped > 0 || (reaped < 0 && errno == EINTR)) continue;
    if (reaped < 0) return true;
    break;
  }
  for (const Process& process : descendants(list_processes(), ::getpid())) {
    if (process.ended || !kill_this(process)) continue;
    if (killed_.insert(process.pid).second) progressed = true;
  }
  interval_ms_ = next_sweep_interval(interval_ms_, progressed);
  return false;
}

}  // namespace agentify
