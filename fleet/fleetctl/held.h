// Reads what a rollout waits for before it may begin its batch: see fleet/model/held.h.
#pragma once

#include <string>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/held.h"

namespace fleetctl {

// Finds out what the rollout waits for before its batch may begin. `reading` has the rollout's
// records. Returns the exit status.
[[nodiscard]] int find_held(Asker& asker, const fleet::Rollout& rollout,
                            const fleet::Reading& reading, std::string& held);

}  // namespace fleetctl
