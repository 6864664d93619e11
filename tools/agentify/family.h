// The processes of the daemon, which are its family: all descendants of the keeper. Finds them in
// /proc, chooses the daemon's main process among them, and kills those that are left. A process is
// killed safely, although the pid of a process that has ended may belong to another process by
// then.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agentify {

// ---- one process

// How a process ended, as wait(2) reports it. `unknown` means that the kernel does not say.
struct DaemonEnding {
  enum class How { exited, signalled, unknown };

  How how = How::unknown;
  int value = 0;  // the exit status or the signal's number

  bool operator==(const DaemonEnding&) const = default;
};

// Returns how the process ended: "exited with status 3", "was killed by SIGSEGV" or "ended in an
// unknown way".
[[nodiscard]] std::string in_words(const DaemonEnding& ending);

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t started = 0;  // the process's start, in clock ticks since the boot
  bool ended = false;         // the process is a zombie: its parent has not reaped it yet
  bool busy = false;          // the process runs, or waits for a processor or a disk

  bool operator==(const Process&) const = default;
};

// Parses the text of /proc/PID/stat. The process's own name in it may contain any bytes.
[[nodiscard]] std::optional<Process> parse_process(std::string_view stat);

// ---- many processes

// Returns all descendants of `ancestor`: its children first, then their children, and so on.
[[nodiscard]] std::vector<Process> descendants(const std::vector<Process>& all, pid_t ancestor);

// Returns the process that becomes the daemon's main process, or 0 if there is none. Called when
// the old main process has ended with status 0, as when a daemon goes into the background. The new
// one is the oldest living child of `keeper`, which inherits all orphans of the daemon.
[[nodiscard]] pid_t heir(const std::vector<Process>& all, pid_t keeper);

// Returns all processes, or an empty list if /proc cannot be read.
[[nodiscard]] std::vector<Process> list_processes();

// Returns true if `process` is `ancestor` or a descendant of it. Reads only the ancestors of
// `process`.
[[nodiscard]] bool descends_from(pid_t process, pid_t ancestor);

// ---- the end of a family

// Kills and reaps all descendants of the calling process, which must be a subreaper.
class Sweep {
 public:
  // Makes a sweep. killed() does not count `spared`, the daemon's main process, because the end of
  // that process is reported separately.
  explicit Sweep(pid_t spared = 0) : spared_(spared) {}

  // Reaps the descendants that have ended, and kills the others. Returns true if none is left.
  // Otherwise it must be called again, when a child ends or a little later: a process may have
  // forked before it was killed.
  [[nodiscard]] bool round();

  // Returns how many processes were killed, without those that had already ended.
  [[nodiscard]] int killed() const { return static_cast<int>(killed_.size()); }

 private:
  pid_t spared_;
  std::set<pid_t> killed_;
};

// The time after which round() is called again if no child has ended.
inline constexpr int sweep_interval_ms = 10;

}  // namespace agentify
