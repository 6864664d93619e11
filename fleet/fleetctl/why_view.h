// Shows why nodes of a rollout failed: a paragraph for each group of failures that are alike.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/failure_groups.h"
#include "fleet/model/transaction.h"

namespace fleetctl {

// Returns the nodes of this rollout, with the facts and labels that the reading has of them.
[[nodiscard]] fleet::NodesOfRollout nodes_of_rollout(const fleet::Reading& reading,
                                                     const std::string& rollout);

// Returns what is known of the evidence, without the lines that the version wrote: `exit status 3,
// lived 4.2 s, memory 12 MiB, processor 31 ms`.
[[nodiscard]] std::string measured_words(const fleet::Capsule& capsule);

// Returns the groups as lines for people.
[[nodiscard]] std::vector<std::string> why_page(const std::vector<fleet::FailureGroup>& groups);
// Returns the groups as one JSON object.
[[nodiscard]] std::string why_json(const std::vector<fleet::FailureGroup>& groups);

}  // namespace fleetctl
