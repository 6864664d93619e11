// Walks through every state that a supervisor can reach, by every event in every order, and lets a
// watcher check every step. Time is abstract: any deadline may be the next to pass.
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
  // Each phase with each kind of event, as an index into Event, that the walk has met in it.
  std::set<std::pair<Phase, std::size_t>> cells;
  // The steps from phase to phase by every event but SIGTERM, SIGQUIT and the request `shutdown`.
  std::set<PhaseStep> phase_steps;
  std::set<PhaseStep> signalled_steps;  // the steps by SIGTERM, SIGQUIT and `shutdown`
  std::size_t running_states = 0;
  // The violations that were found. Behind each, the text has the shortest story that leads to it,
  // written as a scenario.
  std::vector<std::string> violations;
  std::vector<std::vector<Move>> ways;  // the moves of the story of each violation
};

// A function in the place of Supervisor::step. A canary's has a fault.
using StepFunction = std::function<Actions(Supervisor&, const Event&, Time)>;
[[nodiscard]] Actions plain_step(Supervisor& supervisor, const Event& event, Time now);

// An account of the decisions that the supervisor ought to make. It follows every step of the walk,
// and each node of the walk has a copy of its own.
class Companion {
 public:
  virtual ~Companion() = default;
  [[nodiscard]] virtual std::unique_ptr<Companion> clone() const = 0;

  // Tells the companion that every running deadline lies at `later` now, except the one that is
  // due: that lies at `due_at`, and has been put off to there if `put_off` is true.
  virtual void set_deadlines(Time later, const Due& due, Time due_at, bool put_off) = 0;
  // Checks a step at instant 0. Call it once for each step. Afterwards violations() returns every
  // rule that was broken, as text.
  virtual void see(const Event& event, const Actions& actions, const Supervisor& after) = 0;
  [[nodiscard]] virtual const std::vector<std::string>& violations() const = 0;
  // Renumbers the generations that still matter, in the same order, and the programs: 1 is the
  // program of the active agent before an upgrade, 2 is the new one.
  virtual void renumber(const std::map<Generation, Generation>& ranks) = 0;
  // Returns the whole account as text. Accounts that are equal have equal texts.
  [[nodiscard]] virtual std::string print() const = 0;
  // Compares faster than the texts do. May return false although the texts are equal.
  [[nodiscard]] virtual bool equals(const Companion& other) const = 0;
};

// Walks until everything is explored or `violations_max` violations are found. If `map` is given,
// notes the places of the walk in it.
[[nodiscard]] Exploration explore(const Policy& policy, const StepFunction& step = plain_step,
                                  std::size_t violations_max = 5,
                                  const Companion* companion = nullptr, Map* map = nullptr);

// Returns the number of events from this state to the commit of a cooperative upgrade, or 0 if
// there is no commit. In the state, an agent is active and no upgrade is under way.
[[nodiscard]] std::size_t events_to_commit(Supervisor supervisor);

// Returns true if exits and deadlines alone lead from this state to `running` or the end.
[[nodiscard]] bool comes_to_rest(Supervisor supervisor);

}  // namespace upgrader::test
