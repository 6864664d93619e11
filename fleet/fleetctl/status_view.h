// Makes the texts with which `fleetctl status` shows the state of a cell. For programs (`--json`),
// there is a JSON object. For people, there are lines about things that need attention, such as
// certificates that expire soon, and nodes whose records fill the store. Does no input or output.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/drivers/windows.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/transaction.h"

namespace fleetctl {

// The number of members of the store that were asked (`all`), and the number of members that answer
// and have a leader (`good`).
struct MemberCount {
  std::size_t all = 0;
  std::size_t good = 0;
};

// Returns one JSON object. It contains counts instead of records, so its size does not depend on
// the number of nodes.
[[nodiscard]] std::string status_json(const fleet::Reading& reading, const MemberCount& members,
                                      fleet::UnixSeconds now);

// The validity of the certificates with which the person runs fleetctl: the person's own and the
// authority's. If fleetctl does not use one of these certificates, the member for that certificate
// has no value.
struct ShownCertificates {
  std::optional<fleet::Validity> own = {};
  std::optional<fleet::Validity> authority = {};
};

// The numbers of enrolled people and nodes. `ending` counts those whose certificate expires within
// 30 days.
struct CertificateCount {
  std::size_t enrolled = 0;
  std::size_t ending = 0;
  std::size_t revoked = 0;
  // How many revoked people and nodes may still have open connections to the store.
  std::size_t not_yet = 0;
  std::size_t waiting = 0;  // how many nodes wait for a new certificate
};
[[nodiscard]] CertificateCount certificates_in(const fleet::Reading& reading,
                                               fleet::UnixSeconds now);

// Returns a line for each rollout and each plan that waits. `windows` is as for wish_lines().
[[nodiscard]] std::vector<std::string> work_lines(const fleet::Reading& cell,
                                                  const fleet::WindowView& windows);

// Returns a line for each desired version of the cell. If nodes do not move to the version, the
// line says why. Then returns a line for each version to which nodes are pinned, with what they
// wait for if they are held back at their gates. `windows` must know the cell's windows and nodes,
// and what time it is at the moment 0.
[[nodiscard]] std::vector<std::string> wish_lines(const fleet::Reading& reading,
                                                  const std::vector<fleet::NodeView>& nodes,
                                                  const fleet::WindowView& windows);

// Returns by component what the node waits for at its gate. `cell` has all records of the cell, and
// `windows` is as for wish_lines(). A component that a rollout or a person has claimed is left out.
[[nodiscard]] std::map<std::string, std::string> waits_at_gate(const fleet::NodeView& node,
                                                               const fleet::Reading& cell,
                                                               const fleet::WindowView& windows);

[[nodiscard]] std::vector<std::string> care_lines(const fleet::Reading& reading,
                                                  const ShownCertificates& shown,
                                                  fleet::UnixSeconds now);

}  // namespace fleetctl
