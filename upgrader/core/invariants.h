// The invariants that hold after every step of the supervisor: checked in every build.
#pragma once

#include "upgrader/core/action.h"
#include "upgrader/core/event.h"
#include "upgrader/core/state.h"

namespace upgrader {

// Whether this event is the outcome of an action.
[[nodiscard]] bool is_outcome(const Event& event);

// Aborts unless `state`, which a step has left, and the actions of that step agree with each other.
void check_state(const State& state, const Actions& actions);

}  // namespace upgrader
