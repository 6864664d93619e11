// Lists the processes, from /proc. Kills a process safely, although its number may go to another
// process once it has ended.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

#include "tools/agentify/family.h"

namespace agentify {

// Returns all processes, or an empty list if there is no /proc.
[[nodiscard]] std::vector<Process> list_processes();

// Returns true if `process` is `ancestor` or descends from it. Reads only the chain of its parents.
[[nodiscard]] bool descends_from(pid_t process, pid_t ancestor);

// Kills and reaps all processes that descend from the calling process, which must be a subreaper.
class Sweep {
 public:
  // Makes a sweep. killed() does not count the process `spared`, the main process, since its end is
  // reported separately.
  explicit Sweep(pid_t spared = 0) : spared_(spared) {}

  // Reaps the descendants that have ended, and kills the others. Returns true when no descendant is
  // left. Otherwise it must be called again when a child ends, or a little later, since a process
  // may have forked before it was killed.
  [[nodiscard]] bool round();

  // Returns how many living processes were killed.
  [[nodiscard]] int killed() const { return static_cast<int>(killed_.size()); }

 private:
  pid_t spared_;
  std::set<pid_t> killed_;
};

// The time between two rounds if no child ends.
inline constexpr int sweep_interval_ms = 10;

}  // namespace agentify
