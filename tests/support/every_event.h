// Lists every event that a supervisor in a given state may be given, however unlikely the event is.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "upgrader/core/event.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::test {

struct NamedEvent {
  std::string name;  // the event in a form for people, such as "2 ready"
  Event event;
  // The exit of an agent that comes directly after this event, if the event is a message among the
  // agent's last words.
  std::optional<Event> then = std::nullopt;
};

// Returns all messages, closed pipes and exits of each living agent, and all signals. If
// `of_one_gone` is true, also returns late events about an agent that has ended.
[[nodiscard]] std::vector<NamedEvent> every_event(const State& state, bool of_one_gone = true);

// Returns every request of an operator. If a request names an upgrade, it names the one that is
// under way, if there is one.
[[nodiscard]] std::vector<NamedEvent> every_control_event(const State& state);
// Returns the upgrader's start in every form that --previous and --attempts make possible, except
// the ordinary one.
[[nodiscard]] std::vector<NamedEvent> every_start_at_boot();

// Returns every outcome that the action may have for whose outcome the supervisor waits.
[[nodiscard]] std::vector<NamedEvent> every_outcome(const State& state);

}  // namespace upgrader::test
