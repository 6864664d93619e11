// Included before anything else of loop.cc and loop_actions.cc when they are compiled for the
// simulation: there the loop's supervisor sits behind the judge, who sees all that goes in and out.
#pragma once

#include "tests/together/simulation/judge.h"
#include "upgrader/core/supervisor.h"

namespace upgrader {

class SeatedSupervisor {
 public:
  explicit SeatedSupervisor(const Policy& policy) : supervisor_(policy) {}

  // The memory is given to save time, and the judge copies what it sees in any case.
  [[nodiscard]] Actions step(const Event& event, Time now, const Actions&) {
    return simulation::the_judge->step(supervisor_, event, now);
  }
  [[nodiscard]] std::optional<Time> next_deadline() const { return supervisor_.next_deadline(); }
  [[nodiscard]] std::vector<Generation> late(Time by) const { return supervisor_.late(by); }
  [[nodiscard]] std::vector<ProgramId> programs() const { return supervisor_.programs(); }
  [[nodiscard]] const State& state() const { return supervisor_.state(); }

 private:
  Supervisor supervisor_;
};

}  // namespace upgrader

#define Supervisor SeatedSupervisor
