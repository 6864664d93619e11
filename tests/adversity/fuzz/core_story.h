// Turns bytes into a story for a supervisor: the messages of the agents, the outcomes of the
// supervisor's orders, and the passing of time. Most bytes stand for likely events, so that a story
// reaches the later phases of an upgrade.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/adversity/fuzz/unfold.h"
#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace fuzz {

struct Happening {
  std::string name;  // a name of the event that is printed for people
  // One event, or several: all the last messages of an ended agent, and then its exit.
  std::vector<upgrader::Event> events;
  upgrader::Duration later{};      // the time since the previous event
  bool deadlines_are_seen = true;  // whether deadlines that passed in this time are reported
  int outcome = 0;                 // selects the outcome of the supervisor's next order
};

// Returns a supervisor's settings, with values that a command line can give them.
[[nodiscard]] upgrader::Policy take_policy(Bytes& bytes);

[[nodiscard]] Happening take_happening(Bytes& bytes, const upgrader::State& state);

// Returns an outcome of the order that the supervisor waits for. Each failure has its own text.
[[nodiscard]] upgrader::Event take_outcome(Bytes& bytes, const upgrader::State& state, int which);

}  // namespace fuzz
