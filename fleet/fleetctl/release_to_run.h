// Finds a published release that a person wants to run. Refuses a version that is older than the
// running one, unless the order has --downgrade. Without this check, each node would refuse the
// older version itself, and the refusals would count as failures of the release.
#pragma once

#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/node_view.h"

namespace fleetctl {

struct ReleaseFound {
  fleet::Release release = {};
  fleet::Revision revision = 0;
};

// Reads the record of the release into `found`. Prints an error if that fails. Returns the exit
// status.
[[nodiscard]] int find_release(Asker& asker, const std::string& component,
                               const std::string& version, ReleaseFound& found);

// Looks for nodes that run a newer version, and prints their names. Returns exit_done if there are
// no such nodes, otherwise exit_refused.
[[nodiscard]] int look_for_newer(const std::vector<fleet::NodeView>& nodes,
                                 const std::string& component, const std::string& version);

}  // namespace fleetctl
