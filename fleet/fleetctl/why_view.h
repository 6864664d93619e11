// Shows why nodes of a rollout failed: a paragraph for each group of failures that are alike.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/failure_groups.h"

namespace fleetctl {

// Returns what is known of the evidence, without the lines that the version wrote: `exit status 3,
// lived 4.2 s, memory 12 MiB, processor 31 ms`.
[[nodiscard]] std::string measured_words(const fleet::Capsule& capsule);

// Returns the groups as lines for people.
[[nodiscard]] std::vector<std::string> why_page(const std::vector<fleet::FailureGroup>& groups);

}  // namespace fleetctl
