// Lists the processes in /proc. Kills processes safely: the pid of a process that has ended may
// belong to another process by then.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

#include "tools/agentify/family.h"

namespace agentify {

// Returns all processes, or an empty list if /proc cannot be read.
[[nodiscard]] std::vector<Process> list_processes();

// Returns true if `process` is `ancestor` or a descendant of it. Reads only the ancestors of
// `process`.
[[nodiscard]] bool descends_from(pid_t process, pid_t ancestor);

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
