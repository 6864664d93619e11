// Turns bytes into a story for a supervisor: the messages of the agents, the outcomes of the
// supervisor's orders, and the passing of time. Most bytes stand for likely events, so that stories
// get far.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/adversity/fuzz/unfold.h"
#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace fuzz {

struct Happening {
  std::string name;  // the event's name, for people
  // One event; or the last words of an agent, each an event, and the agent's exit.
  std::vector<upgrader::Event> events;
  upgrader::Duration later{};      // the time since the event before
  bool deadlines_are_seen = true;  // if false, no deadline in this time is reported
  int outcome = 0;                 // the number of the outcome that the next order has
};

// Returns settings that a command line could make.
[[nodiscard]] upgrader::Policy take_policy(Bytes& bytes);

[[nodiscard]] Happening take_happening(Bytes& bytes, const upgrader::State& state);

// Returns the outcome of the pending order. Each failure has its own text.
[[nodiscard]] upgrader::Event take_outcome(Bytes& bytes, const upgrader::State& state, int which);

}  // namespace fuzz
