// Refuses an order for an older version than the one that runs, unless it says --downgrade.
// Otherwise each node would refuse it by itself, and count it as the release's failure.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/node_view.h"

namespace fleetctl {

// Returns the exit status. Names the nodes that run a newer version.
[[nodiscard]] int look_for_newer(const std::vector<fleet::NodeView>& nodes,
                                 const std::string& component, const std::string& version);
// Does the same for one node, whose records it reads first.
[[nodiscard]] int look_for_newer(Asker& asker, const std::string& node,
                                 const std::string& component, const std::string& version);

}  // namespace fleetctl
