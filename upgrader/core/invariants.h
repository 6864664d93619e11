// The invariants that hold after every step of the supervisor: checked in every build.
#pragma once

#include "upgrader/core/action.h"
#include "upgrader/core/state.h"

namespace upgrader {

// The outcome for which a step waits if this is its last action.
[[nodiscard]] Pending pending_on(const Action& action);

// Aborts unless `state`, which a step has left, and the actions of that step agree with each other.
void check_state(const State& state, const Actions& actions);

}  // namespace upgrader
