// A rollout by HTTP: begun by PUT with its terms, told something by PATCH with an order. The same
// decisions as fleetctl's. Pure.
#pragma once

#include <string>
#include <vector>

#include "fleet/http/config.h"

namespace fleet {

// The keys that are to be read beside the rollout's own: what the target is evaluated over, and the
// release.
[[nodiscard]] std::vector<std::string> rollout_needs(const Request& request);

// Of PUT, PATCH and DELETE. `found` is what stands there (null: nothing).
[[nodiscard]] ConfigDecision decide_rollout(const Request& request, const std::string& id,
                                            const KeyValue* found, const Reading& reading,
                                            const ConfigMoment& moment);

}  // namespace fleet
