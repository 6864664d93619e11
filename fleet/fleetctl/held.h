// Reads what a rollout waits for before it may begin its batch: see fleet/model/held.h.
#pragma once

#include <variant>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/held.h"

namespace fleetctl {

// Finds out what the rollout waits for: a controller that drives it or, before its batch may begin,
// the end of a stop or the windows of its nodes. `reading` has the rollout's records. If the store
// cannot be read, prints an error, and returns the exit status.
[[nodiscard]] std::variant<fleet::Held, int> find_held(Asker& asker, const std::string& id,
                                                       const fleet::Rollout& rollout,
                                                       const fleet::Reading& reading);

}  // namespace fleetctl
