// Turns bytes into a story for a supervisor: which agent sends which message, which outcomes orders
// have, how time passes. Most bytes stand for events that are likely, so that stories get far.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/adversity/fuzz/unfold.h"
#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace fuzz {

struct Happening {
  std::string name;  // the event, in a form for people
  // One event, or last words and the exit that follows at once.
  std::vector<upgrader::Event> events;
  upgrader::Duration later{};      // the time since the event before
  bool deadlines_are_seen = true;  // deadlines in this time are delivered
  int outcome = 0;                 // by number, the outcome of the next order
};

// Returns settings that a command line may have.
[[nodiscard]] upgrader::Policy take_policy(Bytes& bytes);

[[nodiscard]] Happening take_happening(Bytes& bytes, const upgrader::State& state);

// Returns the outcome of the pending order. A failure has a text of its own.
[[nodiscard]] upgrader::Event take_outcome(Bytes& bytes, const upgrader::State& state, int which);

}  // namespace fuzz
