// Collects the failed nodes of a rollout from its records, and writes their groups as JSON, for
// `fleetctl why` and for the page. Pure.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/failure_groups.h"
#include "fleet/model/transaction.h"

namespace fleet {

// Returns the nodes of this rollout, with their facts and labels, as far as the reading contains
// them.
[[nodiscard]] NodesOfRollout nodes_of_rollout(const Reading& reading, const std::string& rollout);

// Returns the groups as one JSON object.
[[nodiscard]] std::string failures_json(const std::vector<FailureGroup>& groups);

}  // namespace fleet
