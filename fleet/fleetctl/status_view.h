// Shows the state of a cell: as JSON, for programs (`fleetctl status --json`), and to a person the
// things to take care of: certificates that end soon, and nodes that fill the store. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

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

// When the certificates of the person who runs fleetctl are valid; no value if none is used.
struct ShownCertificates {
  std::optional<fleet::Validity> own = {};
  std::optional<fleet::Validity> authority = {};
};

// How many people and nodes are enrolled. `ending` counts those whose certificate ends within 30
// days.
struct CertificateCount {
  std::size_t enrolled = 0;
  std::size_t ending = 0;
  std::size_t revoked = 0;
  std::size_t waiting = 0;  // how many nodes wait for a new certificate
};
[[nodiscard]] CertificateCount certificates_in(const fleet::Reading& reading,
                                               fleet::UnixSeconds now);

[[nodiscard]] std::vector<std::string> care_lines(const fleet::Reading& reading,
                                                  const ShownCertificates& shown,
                                                  fleet::UnixSeconds now);

}  // namespace fleetctl
