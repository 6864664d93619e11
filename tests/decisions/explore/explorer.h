// Walks every state that a supervisor can reach, by every event in every order, and has a watcher
// look at every step. Time is abstract: any deadline may be the next to pass.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/decisions/explore/canonical.h"
#include "tests/support/every_event.h"
#include "tests/support/phase_table.h"
#include "tests/support/watcher.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::test {

struct Exploration {
  std::size_t states = 0;
  std::size_t edges = 0;
  std::set<std::pair<Phase, std::size_t>> cells;  // phase and kind of event (index into Event)
  std::set<PhaseStep> phase_steps;                // by every event but SIGTERM and SIGQUIT
  std::set<PhaseStep> signalled_steps;            // by these two
  std::size_t running_states = 0;
  std::vector<std::string> violations;  // each with the shortest story to it, as a scenario
  std::vector<std::vector<Move>> ways;  // the moves of these stories
};

// What is done instead of Supervisor::step, for canaries: a supervisor with a fault.
using StepFunction = std::function<Actions(Supervisor&, const Event&, Time)>;
[[nodiscard]] Actions plain_step(Supervisor& supervisor, const Event& event, Time now);

// Goes along on the walk and has a state of its own in every node: a second account of what the
// supervisor should do.
class Companion {
 public:
  virtual ~Companion() = default;
  [[nodiscard]] virtual std::unique_ptr<Companion> clone() const = 0;

  // Every deadline that is set lies at `later` now, but the one that is due lies at `due_at`, which
  // it was put off to or not.
  virtual void set_deadlines(Time later, const Due& due, Time due_at, bool put_off) = 0;
  // Call once a step, at instant 0. Afterwards violations() has what was wrong, in words.
  virtual void see(const Event& event, const Actions& actions, const Supervisor& after) = 0;
  [[nodiscard]] virtual const std::vector<std::string>& violations() const = 0;
  // Gives the generations that still matter other numbers, in the same order, and the programs too:
  // 1 is what serves or is to be gone back to, 2 is the other.
  virtual void renumber(const std::map<Generation, Generation>& ranks) = 0;
  // The whole account as text: equal for equal ones.
  [[nodiscard]] virtual std::string print() const = 0;
  // Quicker than to compare the texts. It may deny that two are equal whose texts are.
  [[nodiscard]] virtual bool equals(const Companion& other) const = 0;
};

// Stops at `violations_max` violations. Draws the map of where it has been, if one is given.
[[nodiscard]] Exploration explore(const Policy& policy, const StepFunction& step = plain_step,
                                  std::size_t violations_max = 5,
                                  const Companion* companion = nullptr, Map* map = nullptr);

// From a state in which an agent serves and no upgrade is under way: the number of events that a
// cooperative upgrade takes to its commit, or 0 if it does not get there.
[[nodiscard]] std::size_t events_to_commit(Supervisor supervisor);

// From any state, exits and deadlines alone: true if they lead to `running` or the end.
[[nodiscard]] bool comes_to_rest(Supervisor supervisor);

}  // namespace upgrader::test
