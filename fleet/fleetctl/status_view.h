// `fleetctl status --json`: what status shows, for programs. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "fleet/model/identities.h"
#include "fleet/model/transaction.h"

namespace fleetctl {

// Of the store's members that were asked: how many there are, and how many answer and have a
// leader.
struct MemberCount {
  std::size_t all = 0;
  std::size_t good = 0;
};

// One object, without any record: it does not grow with the number of nodes.
[[nodiscard]] std::string status_json(const fleet::Reading& reading, const MemberCount& members,
                                      fleet::UnixSeconds now);

}  // namespace fleetctl
