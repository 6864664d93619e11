// Tells from a node's records how far the node is on its way to a desired version. A node goes to
// the version in its own record node/ID/desired/COMPONENT, and each write of that record is one
// attempt.
#pragma once

#include <string>

#include "fleet/model/desired_view.h"

namespace fleet {

[[nodiscard]] bool runs(const DesiredNode& node, const std::string& version);

// Returns the phase of the attempt that the node's own record stands for, or unknown if the node
// has not begun it.
[[nodiscard]] UpgradePhase phase_of(const DesiredNode& node);

[[nodiscard]] bool is_ended(UpgradePhase phase);

// Returns whether a controller has written the node's own record for this wish. For one wish, a
// controller gives a node the order only once. If a controller has taken the order back since, by
// writing the earlier version into the record, this still returns true.
[[nodiscard]] bool is_told(const DesiredNode& node, const CellWish& wish);

// Returns whether the node was told to move, does not run the version yet, and has not failed.
[[nodiscard]] bool is_under_way(const DesiredNode& node, const CellWish& wish);

// Returns whether the node has failed, or a controller has taken the order back because the node
// took too long.
[[nodiscard]] bool has_failed(const DesiredNode& node, const CellWish& wish);

// Returns the id of the command that tells the old instance to stop for this attempt.
[[nodiscard]] std::string stop_id(const DesiredNode& node);

}  // namespace fleet
