// Finds out for the web page which work in the cell is held back: see fleet/model/reasons/held.h.
// Does no input or output.
#pragma once

#include "fleet/http/outlook.h"
#include "fleet/http/state.h"

namespace fleet {

// Returns what holds back the rollouts, desired versions, and plans before their first step that
// cannot begin anything now.
[[nodiscard]] HeldWork held_work(const StateView& view, const StateMoment& moment);

}  // namespace fleet
