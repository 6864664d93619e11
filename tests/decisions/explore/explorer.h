// Explores every state that a supervisor can reach, through every event in every order, and lets a
// watcher check every step. Time is abstract: deadlines have no order, so any running deadline may
// be the next to pass.
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
  // All pairs of a phase and a kind of event that have occurred together. The kind is an index into
  // the variant Event.
  std::set<std::pair<Phase, std::size_t>> cells;
  // The changes of the phase, as pairs of old and new phase. Changes that SIGTERM, SIGQUIT or the
  // request `shutdown` has caused are not included.
  std::set<PhaseStep> phase_steps;
  std::set<PhaseStep> signalled_steps;  // changes that SIGTERM, SIGQUIT or `shutdown` caused
  std::size_t running_states = 0;
  // The violations that were found, as texts. Each text ends with the shortest sequence of events
  // that leads to the violation, written as a scenario.
  std::vector<std::string> violations;
  std::vector<std::vector<Move>> ways;  // the moves that lead to each violation
};

// A function that is called instead of `Supervisor::step`. A canary, which tests the exploration
// itself, passes a function with an injected bug.
using StepFunction = std::function<Actions(Supervisor&, const Event&, Time)>;
[[nodiscard]] Actions plain_step(Supervisor& supervisor, const Event& event, Time now);

// A second opinion about each step of the supervisor. It keeps its own record of all events and
// actions so far, and derives from that record how the supervisor ought to react. Each explored
// state has its own Companion.
class Companion {
 public:
  virtual ~Companion() = default;
  [[nodiscard]] virtual std::unique_ptr<Companion> clone() const = 0;

  // Moves the running deadlines in this object's record. The deadline that `due` names moves to the
  // instant `due_at`, and all others move to `later`. If `put_off` is true, the supervisor has
  // already postponed the named deadline once, to `due_at`, and must not postpone it again.
  virtual void set_deadlines(Time later, const Due& due, Time due_at, bool put_off) = 0;
  // Checks a step that the supervisor has made at instant 0, the instant of every step of an
  // exploration. Must be called once for each step. If the step breaks a rule, adds a text about
  // this to violations().
  virtual void see(const Event& event, const Actions& actions, const Supervisor& after) = 0;
  [[nodiscard]] virtual const std::vector<std::string>& violations() const = 0;
  // Replaces the numbers of the generations by smaller numbers in the same order: see ranks_of().
  // Also renumbers the programs: the program of the agent that is active before an upgrade becomes
  // 1, and the candidate's program becomes 2.
  virtual void renumber(const std::map<Generation, Generation>& ranks) = 0;
  // Returns as text everything that this object has recorded. Equal records have equal texts.
  [[nodiscard]] virtual std::string print() const = 0;
  // Returns whether `other` has the same record. This is faster than a comparison of the texts of
  // print(), but may miss that two records are equal: if it returns false, the exploration compares
  // the texts, too.
  [[nodiscard]] virtual bool equals(const Companion& other) const = 0;
};

// Explores until no new state is found, or until `violations_max` violations are found. Writes the
// found states into `map`, if `map` is not null.
[[nodiscard]] Exploration explore(const Policy& policy, const StepFunction& step = plain_step,
                                  std::size_t violations_max = 5,
                                  const Companion* companion = nullptr, Map* map = nullptr);

// Counts the events from this state to the commit of an upgrade in which every agent cooperates. In
// this state an agent must be active, and no upgrade may be under way. Returns 0 if the upgrade is
// not committed.
[[nodiscard]] std::size_t events_to_commit(Supervisor supervisor);

// Returns whether the supervisor comes to rest from this state: whether it reaches the phase
// `running` or ends, if from now on nothing happens except that agents exit and deadlines pass.
[[nodiscard]] bool comes_to_rest(Supervisor supervisor);

// ---- a sequence of moves, written as a scenario

// A sequence of moves as a scenario (tests/decisions/scenario). The scenario has the generations
// and times of a real run, instead of the renumbered generations and abstract times of the
// exploration. Its answers are those of the supervisor that was explored, which may have an
// injected bug.
struct Story {
  std::string text;  // the scenario, which play() can read
  // The violations that a watcher (tests/support/watcher.h) finds while the scenario is played.
  std::vector<std::string> violations;
};

// Writes `moves`, a course of events from the supervisor's start, as a scenario under one of the
// explored policies. Two kinds of moves cannot be written as a scenario:
// * Deadlines pass in an order that a scenario cannot produce.
// * An agent does not read its input.
// At the first such move the text ends, and its last line says that the scenario is not complete.
[[nodiscard]] Story tell(const Policy& policy, const std::vector<Move>& moves,
                         const StepFunction& step);

}  // namespace upgrader::test
