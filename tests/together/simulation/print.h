// Prints events and actions as lines for people, and finds the agent that an event is about.
#pragma once

#include <string>
#include <vector>

#include "upgrader/core/action.h"
#include "upgrader/core/event.h"

namespace upgrader::simulation {

// Returns the generation of the agent that the event is about, or 0 if it is about no agent.
[[nodiscard]] Generation generation_of(const Event& event);
void set_generation(Event& event, Generation generation);

[[nodiscard]] std::string print(const Event& event);
[[nodiscard]] std::vector<std::string> print(const Actions& actions);

}  // namespace upgrader::simulation
