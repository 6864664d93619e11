// Finds out for the web page which work in the cell is held back: see fleet/model/held.h. Does no
// input or output.
#pragma once

#include "fleet/http/outlook.h"
#include "fleet/http/state.h"

namespace fleet {

// Returns the rollouts that cannot begin their batches now, because windows are closed or a stop is
// ordered.
[[nodiscard]] HeldWork held_work(const StateView& view, const StateMoment& moment);

}  // namespace fleet
