// The invariants that hold after every step of the supervisor: checked in every build.
#pragma once

#include "upgrader/core/action.h"
#include "upgrader/core/state.h"

namespace upgrader {

// Returns which outcome must be the next event after `action`. Returns Pending::nothing if `action`
// has no outcome. An action that has an outcome is the last action of its step.
[[nodiscard]] Pending pending_on(const Action& action);

// Aborts unless the state after a step and the actions of that step agree with each other.
void check_state(const State& state, const Actions& actions);

}  // namespace upgrader
