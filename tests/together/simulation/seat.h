// Puts the judge between the loop and its supervisor. This file is included before all other
// headers when loop.cc and loop_actions.cc are compiled for the simulation, so that the judge sees
// every event and every action.
#pragma once

#include "tests/together/simulation/judge.h"
#include "upgrader/core/supervisor.h"

namespace upgrader {

class SeatedSupervisor {
 public:
  explicit SeatedSupervisor(const Policy& policy) : supervisor_(policy) {}

  // The third argument is memory that the real supervisor reuses for its result, to save time. The
  // judge copies the result anyway, so this function ignores the memory.
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
