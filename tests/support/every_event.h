// Every event that can come to a supervisor in a given state, the absurd ones included.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::test {

struct NamedEvent {
  std::string name;  // for people: "2 ready"
  Event event;
  std::optional<Event> then = std::nullopt;  // follows at once: an exit after last words
};

// All messages, closes and exits of each agent that lives, of one that has gone if that is wanted,
// and all signals.
[[nodiscard]] std::vector<NamedEvent> every_event(const State& state, bool of_one_gone = true);

// Every request of the control directory: of the upgrade under way, if there is one.
[[nodiscard]] std::vector<NamedEvent> every_control_event(const State& state);
// Every other beginning that --previous makes possible.
[[nodiscard]] std::vector<NamedEvent> every_start_at_boot();

// The outcomes that the pending action may have.
[[nodiscard]] std::vector<NamedEvent> every_outcome(const State& state);

}  // namespace upgrader::test
