// How far a node is on its way to a desired version, told from its records alone. A node goes where
// its own record node/ID/desired/COMPONENT says; each write of that is an attempt.
#pragma once

#include <string>

#include "fleet/model/desired_view.h"

namespace fleet {

[[nodiscard]] bool runs(const DesiredNode& node, const std::string& version);

// How far the attempt is that the node's own record is; unknown: it has not begun.
[[nodiscard]] UpgradePhase phase_of(const DesiredNode& node);

[[nodiscard]] bool is_ended(UpgradePhase phase);

// It was told to go where the cell is wished, or that it need not any more: not told again.
[[nodiscard]] bool is_told(const DesiredNode& node, const CellWish& wish);

// It was told, and is not there, and has not failed.
[[nodiscard]] bool is_under_way(const DesiredNode& node, const CellWish& wish);

// It has failed, or its order was taken back since it took too long.
[[nodiscard]] bool has_failed(const DesiredNode& node, const CellWish& wish);

// The id of the command by which the old instance is told to stop for this attempt.
[[nodiscard]] std::string stop_id(const DesiredNode& node);

}  // namespace fleet
