// How far a node is on its way to a desired version, told from its records alone.
#pragma once

#include <string>

#include "fleet/model/desired_view.h"

namespace fleet {

// It is claimed for some wish.
[[nodiscard]] bool is_ours(const DesiredNode& node);

[[nodiscard]] bool runs(const DesiredNode& node, const Wish& wish);

// What it says of an upgrade is of the one that this trace began.
[[nodiscard]] bool is_of(const DesiredNode& node, const std::string& trace);

[[nodiscard]] bool is_ended(UpgradePhase phase);

// What it was claimed for has ended: its upgrade, or an order to go back that found none, or one to
// begin that was refused.
[[nodiscard]] bool is_at_end(const DesiredNode& node);

// It was told something for this wish; then it is not told to begin again.
[[nodiscard]] bool is_tried(const DesiredNode& node, const Wish& wish);

// It was told, and has failed, or has refused to begin.
[[nodiscard]] bool has_failed(const DesiredNode& node, const Wish& wish);

// `stop` and the node's own wish are one transaction: where that stands, it was told.
[[nodiscard]] bool is_told_to_stop(const DesiredNode& node, const Wish& wish);

}  // namespace fleet
