// The family of a daemon: all processes of the daemon, which are the descendants of the keeper
// (keeper.h), the parent process that agentify gives to the daemon. The functions of this file find
// the family in /proc, choose the daemon's main process, and kill the processes that are left when
// the main process has exited. They never kill a foreign process that has got the pid of a process
// that has exited.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agentify {

// ---- facts about one process

// How a process exited, as wait(2) reports it. `unknown` means that wait(2) could not report this,
// because the process was not a child of the keeper (keeper.h), or because the keeper has died.
struct DaemonEnding {
  enum class How { exited, signalled, unknown };

  How how = How::unknown;
  int value = 0;  // the exit status or the signal's number

  bool operator==(const DaemonEnding&) const = default;
};

// Returns how the process exited: "exited with status 3", "was killed by SIGSEGV" or "ended in an
// unknown way".
[[nodiscard]] std::string in_words(const DaemonEnding& ending);

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::uint64_t started = 0;  // the process's start, in clock ticks since the boot
  bool ended = false;         // the process is a zombie: it has exited, but is not reaped
  bool busy = false;          // the process runs, or waits for a processor or a disk

  bool operator==(const Process&) const = default;
};

// Parses the text of /proc/PID/stat. The process's name in this text may contain any bytes.
[[nodiscard]] std::optional<Process> parse_process(std::string_view stat);

// ---- facts about several processes

// Returns all descendants of `ancestor`: its children first, then their children, and so on.
[[nodiscard]] std::vector<Process> descendants(const std::vector<Process>& all, pid_t ancestor);

// Returns the pid of the process that may become the daemon's main process, or 0 if there is none.
// Called when the old main process has exited, for example because the daemon has gone into the
// background. The new main process is the oldest living child of `keeper`, which becomes the parent
// of all orphans of the daemon.
[[nodiscard]] pid_t heir(const std::vector<Process>& all, pid_t keeper);

// Returns all processes, or an empty list if /proc cannot be read. A process that is born while the
// list is made may be missing in it.
[[nodiscard]] std::vector<Process> list_processes();

// Returns the pid that heir() would return, even if processes fork and exit meanwhile. Calls
// `list`, which returns all processes, until the answer is certain. Returns 0 if the answer is not
// certain after 64 calls. One list is not enough, because a process that is born while the list is
// made may be missing in it. The keeper must not reap a child meanwhile.
[[nodiscard]] pid_t find_heir(pid_t keeper,
                              const std::function<std::vector<Process>()>& list = list_processes);

// Reads a process from /proc. Returns nothing if the process does not exist.
[[nodiscard]] std::optional<Process> look_at(pid_t process);

// Returns true if the process exists and has not exited.
[[nodiscard]] bool is_living(pid_t process);

// Returns true if `process` is `ancestor` or a descendant of it. Reads only `process` and its
// ancestors. The answer is right even if some of them exit meanwhile, but `ancestor` must not exit.
[[nodiscard]] bool descends_from(
    pid_t process, pid_t ancestor,
    const std::function<std::optional<Process>(pid_t)>& look = look_at);

// ---- killing the processes of a family

// The limits of the interval after which Sweep::round() is called again although no child has
// exited. The interval begins at the lower limit, and may grow to the upper limit.
inline constexpr int sweep_interval_min_ms = 10;
inline constexpr int sweep_interval_max_ms = 1000;

// Returns the next interval: the shortest one after a round that has killed or reaped a process,
// otherwise twice the last interval. A process that cannot be killed, such as a process of root or
// one that waits for a disk, may live for hours. Rounds must then become rare, because each round
// reads all processes of the machine.
[[nodiscard]] constexpr int next_sweep_interval(int last_ms, bool progressed) {
  return progressed ? sweep_interval_min_ms : std::min(2 * last_ms, sweep_interval_max_ms);
}

// Kills and reaps all descendants of the calling process, which must be a subreaper.
class Sweep {
 public:
  // Reaps the descendants that have exited, and kills the living ones. Returns true if no
  // descendant is left. Otherwise round() must be called again when a child has exited or
  // interval_ms() have passed: a process may have forked before it was killed.
  [[nodiscard]] bool round();
  [[nodiscard]] int interval_ms() const { return interval_ms_; }

  // Returns how many processes were killed, without those that had exited already.
  [[nodiscard]] int killed() const { return static_cast<int>(killed_.size()); }

 private:
  std::set<pid_t> killed_;
  int interval_ms_ = sweep_interval_min_ms;
};

}  // namespace agentify
