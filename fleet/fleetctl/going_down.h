// Refuses an order for an older version than the one that runs, unless the order says --downgrade.
// Otherwise each node would refuse it by itself, and count it as the release's failure.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/node_view.h"

namespace fleetctl {

// Prints the nodes that run a newer version. Returns the exit status: exit_done if no node does,
// otherwise exit_refused.
[[nodiscard]] int look_for_newer(const std::vector<fleet::NodeView>& nodes,
                                 const std::string& component, const std::string& version);
// Reads the records of one node, and then looks for a newer version as the other function does.
[[nodiscard]] int look_for_newer(Asker& asker, const std::string& node,
                                 const std::string& component, const std::string& version);

}  // namespace fleetctl
