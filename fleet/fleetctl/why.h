// Shows why nodes of a rollout failed: one paragraph for all nodes that failed in the same way.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/failure_groups.h"

namespace fleetctl {

// Returns the evidence of a failed version as one line, without the version's output: `exit status
// 3, lived 4.2 s, memory 12 MiB, processor 31 ms`.
[[nodiscard]] std::string measured_words(const fleet::Capsule& capsule);

// Returns the groups of nodes that failed in the same way, as lines for people.
[[nodiscard]] std::vector<std::string> why_page(const std::vector<fleet::FailureGroup>& groups);

}  // namespace fleetctl
