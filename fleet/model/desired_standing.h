// Finds out from a node's records how far the node has come towards a desired version. A node moves
// to the version that its own record node/ID/desired/COMPONENT names, and each write of that record
// begins one attempt.
#pragma once

#include <string>

#include "fleet/model/desired_view.h"

namespace fleet {

[[nodiscard]] bool runs(const DesiredNode& node, const std::string& version);

// Returns the phase of the node's attempt at the version that its own record names, or `unknown` if
// the node has not begun it.
[[nodiscard]] UpgradePhase phase_of(const DesiredNode& node);

[[nodiscard]] bool is_ended(UpgradePhase phase);

// Returns whether a controller has ever given the node the order to move for this wish, which is
// one write of the cell's desired version. The result stays true if a controller has taken the
// order back. So a node gets the order for one wish only once.
[[nodiscard]] bool is_told(const DesiredNode& node, const CellWish& wish);

// Returns whether the node has got the order to move to the desired version, does not run the
// version yet, and has not failed.
[[nodiscard]] bool is_under_way(const DesiredNode& node, const CellWish& wish);

// Returns whether the node has failed to move to the desired version, or has taken too long, so
// that a controller has taken back the order.
[[nodiscard]] bool has_failed(const DesiredNode& node, const CellWish& wish);

// Returns the id of the command to stop the old version for this attempt.
[[nodiscard]] std::string stop_id(const DesiredNode& node);

}  // namespace fleet
