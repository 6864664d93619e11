// Collects facts from the store's records, for the check of a cell (cell_check.h). Does no input or
// output.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/controllers_at_work.h"
#include "fleet/model/identities.h"
#include "fleet/model/join_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

struct CellFindings {
  ControllersAtWork controllers = {};
  // When each certificate expires, by the owner's name.
  std::map<std::string, UnixSeconds> expiries = {};
  // Nodes that should have got a new certificate by now: see is_late().
  std::vector<std::string> late = {};
  std::size_t waiting = 0;  // how many nodes wait for a new certificate
  // The time of the newest event in the cell's history.
  UnixSeconds newest = 0;
  std::map<std::string, SignerAtWork> signers = {};  // signers at work, by their names
  // The requests of machines that wait for a person's approval, by the fingerprint of the machine's
  // key.
  std::map<std::string, JoinRequest> joins = {};
  std::set<std::string> approvals = {};  // the fingerprints of keys that are approved
  std::set<std::string> nodes = {};      // nodes that have an identity record
  std::set<std::string> reporting = {};  // nodes whose fleet-agent is alive
};

// Returns the facts in all records of a cell at the time `now`.
[[nodiscard]] CellFindings findings_in(const Reading& records, UnixSeconds now);

}  // namespace fleet
