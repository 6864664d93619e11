// Judges many faults at a time, in several processes: one process can trace and reap for one run
// only.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/adversity/fault/plan.h"

namespace fault {

struct Judged {
  std::size_t index = 0;  // the fault's index in the list of faults
  bool fired = false;
  std::string outcome;
  Phase phase = Phase::start;
  std::string wrong;  // the errors that the judge has found, or ""
};

// Makes a run with the fault, and judges it. If the fault did not fire, tries again, since a run on
// a busy machine may make other calls.
[[nodiscard]] Judged judge_fault(const Setting& setting, const Fault& fault, const Report& baseline,
                                 const Expectations& expectations);

// Calls `take` with each result as it arrives. Throws if a worker process has died.
void judge_all(const Setting& setting, const std::vector<Planned>& faults,
               const Baselines& baselines, const Expectations& expectations, int workers,
               const std::function<void(const Judged&)>& take);

}  // namespace fault
