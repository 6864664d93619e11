// `fleetctl status --json`: the state of a cell as JSON, for programs. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "fleet/model/identities.h"
#include "fleet/model/transaction.h"

namespace fleetctl {

// How many members of the store were asked, and how many of them answer and have a leader.
struct MemberCount {
  std::size_t all = 0;
  std::size_t good = 0;
};

// Returns one JSON object with counts and without records, so that its size does not depend on the
// number of nodes.
[[nodiscard]] std::string status_json(const fleet::Reading& reading, const MemberCount& members,
                                      fleet::UnixSeconds now);

}  // namespace fleetctl
