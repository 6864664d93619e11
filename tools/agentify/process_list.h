// The processes that there are, from /proc, and what may be done to one without hitting another
// that has come to have its number.
#pragma once

#include <sys/types.h>

#include <set>
#include <vector>

#include "tools/agentify/family.h"

namespace agentify {

// Empty where there is no /proc.
[[nodiscard]] std::vector<Process> list_processes();

// True if `process` descends from `ancestor`, or is it. Looks at the line of its parents alone.
[[nodiscard]] bool descends_from(pid_t process, pid_t ancestor);

// Kills all that descends from this process, which must be a subreaper, and reaps it.
class Sweep {
 public:
  // `spared` is not counted as killed: the main process, whose end is told otherwise.
  explicit Sweep(pid_t spared = 0) : spared_(spared) {}

  // Reaps who has ended and kills who is there. True when nobody is left; otherwise to be called
  // again when a child ends, or a little later: somebody may have forked meanwhile.
  [[nodiscard]] bool round();

  // How many were killed that still ran.
  [[nodiscard]] int killed() const { return static_cast<int>(killed_.size()); }

 private:
  pid_t spared_;
  std::set<pid_t> killed_;
};

// Between two rounds, where no child ends.
inline constexpr int sweep_interval_ms = 10;

}  // namespace agentify
