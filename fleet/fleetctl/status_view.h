// Makes the texts with which `fleetctl status` shows a cell: a JSON object for programs (`--json`),
// and for people lines about what needs attention, such as certificates that expire soon, or nodes
// whose records fill the store. Does no input or output.
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

// How many members of the store were asked (`all`), and how many answer and have a leader (`good`).
struct MemberCount {
  std::size_t all = 0;
  std::size_t good = 0;
};

// Returns one JSON object with counts instead of records, so that many nodes do not make it longer.
[[nodiscard]] std::string status_json(const fleet::Reading& reading, const MemberCount& members,
                                      fleet::UnixSeconds now);

// The validity of the user's own certificate and of the authority's; no value if fleetctl does not
// use it.
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

// Returns a line for each desired version of the cell, with the reason if nodes do not move to it.
// Lines for pinned versions follow, with the reason if upgrades to them wait for a confirmation.
// The caller must have added the cell's windows and nodes to `windows`, and have set its clock with
// set_wall().
[[nodiscard]] std::vector<std::string> wish_lines(const fleet::Reading& reading,
                                                  const std::vector<fleet::NodeView>& nodes,
                                                  const fleet::WindowView& windows);

// Returns, by component, why the node's upgrades wait at their gates, that is, for a confirmation.
// Leaves out a component that a rollout or a person is moving. `cell` has all records of the cell,
// and `windows` is as for wish_lines().
[[nodiscard]] std::map<std::string, std::string> waits_at_gate(const fleet::NodeView& node,
                                                               const fleet::Reading& cell,
                                                               const fleet::WindowView& windows);

[[nodiscard]] std::vector<std::string> care_lines(const fleet::Reading& reading,
                                                  const ShownCertificates& shown,
                                                  fleet::UnixSeconds now);

}  // namespace fleetctl
