// Tries many faults at the same time, each in a worker process, since one process can trace only
// one run and reap its processes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/adversity/fault/plan.h"

namespace fault {

struct Judged {
  std::size_t index = 0;  // the index of the fault in the list of all faults
  bool fired = false;
  std::string outcome;
  Phase phase = Phase::start;
  std::string wrong;  // the broken rules in words; empty if none was broken
};

// Makes a run of the upgrader with the fault, and judges the run. If the fault did not strike,
// tries again: on a busy machine, a run may make other system calls than usual.
[[nodiscard]] Judged judge_fault(const Setting& setting, const Fault& fault, const Report& baseline,
                                 const Expectations& expectations);

// Judges all faults, and calls `take` with each result as it arrives. Throws if a worker process
// has died.
void judge_all(const Setting& setting, const std::vector<Planned>& faults,
               const Baselines& baselines, const Expectations& expectations, int workers,
               const std::function<void(const Judged&)>& take);

}  // namespace fault
