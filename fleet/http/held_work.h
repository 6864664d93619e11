// Finds out for the web page which work is held back, and by what: see fleet/model/reasons/held.h.
// Does no input or output.
#pragma once

#include "fleet/http/outlook.h"
#include "fleet/http/state.h"

namespace fleet {

// Returns the rollouts and desired versions that cannot begin anything now, and the plans that
// cannot begin, with the reasons.
[[nodiscard]] HeldWork held_work(const StateView& view, const StateMoment& moment);

}  // namespace fleet
