// An order for an older version than the one that runs is refused here, too, unless it says
// --downgrade: each node would refuse it by itself, and count it as the release's failure.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/node_view.h"

namespace fleetctl {

// Returns the exit status; nodes that run a newer version have been named.
[[nodiscard]] int look_for_newer(const std::vector<fleet::NodeView>& nodes,
                                 const std::string& component, const std::string& version);
// The same for one node, whose records are read first.
[[nodiscard]] int look_for_newer(Asker& asker, const std::string& node,
                                 const std::string& component, const std::string& version);

}  // namespace fleetctl
