// Bytes as a story that a supervisor is told: who says what, what the world answers, how time goes
// on. Most bytes mean something that may well happen, so that stories get somewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/adversity/fuzz/unfold.h"
#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace fuzz {

struct Happening {
  std::string name;                     // for people
  std::vector<upgrader::Event> events;  // one; or last words and the exit that follows at once
  upgrader::Duration later{};           // so much later than what was before
  bool deadlines_are_seen = true;       // on the way
  int outcome = 0;                      // which one the next order that has outcomes will have
};

// Settings that a command line may have.
[[nodiscard]] upgrader::Policy take_policy(Bytes& bytes);

[[nodiscard]] Happening take_happening(Bytes& bytes, const upgrader::State& state);

// The answer to the order that is pending, with a text of its own where it is a trouble.
[[nodiscard]] upgrader::Event take_outcome(Bytes& bytes, const upgrader::State& state, int which);

}  // namespace fuzz
