// Lists every event that may reach a supervisor in a given state, even if the event is unlikely.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::test {

struct NamedEvent {
  std::string name;  // the event as text for people, such as "2 ready"
  Event event;
  // If this event is a message that is read only after the agent's exit: the event of this exit,
  // which must come next. Not set for any other event.
  std::optional<Event> then = std::nullopt;
};

// Returns all messages, closed pipes and exits of each living agent, and all signals. If no agent
// has been started yet, also returns the event for the upgrader's start. If `of_one_gone` is true,
// also returns late events about an agent that has ended.
[[nodiscard]] std::vector<NamedEvent> every_event(const State& state, bool of_one_gone = true);

// Returns every request that an operator can make. If a request must name an upgrade, such as
// `cancel`, it names the upgrade under way, if there is one.
[[nodiscard]] std::vector<NamedEvent> every_control_event(const State& state);
// Returns the events for those starts of an upgrader that only --previous and --attempts make
// possible. Leaves out the ordinary start.
[[nodiscard]] std::vector<NamedEvent> every_start_at_boot();

// Returns every possible outcome for which the supervisor may wait now, such as the success or the
// failure of a start. If the supervisor waits for no outcome, returns an empty list.
[[nodiscard]] std::vector<NamedEvent> every_outcome(const State& state);

}  // namespace upgrader::test
