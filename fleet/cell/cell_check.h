// Checks a cell: finds out which parts of the cell work, and how to repair the parts that do not.
// It decides from the store's records, and from the answers of the store's members and the
// controllers. Does no input or output.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/model/drivers/controllers_at_work.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

struct MemberFact {
  std::string url = {};
  // the reason for a missing answer, or the trouble that the member reports; empty if all is well
  std::string trouble = {};
  bool is_full = false;  // the member's database is at its quota, and refuses writes
};

// The facts that one HTTPS request to a server has given. The server is a member of the store or a
// controller.
struct ServerFact {
  std::string url = {};
  std::string trouble = {};  // why the server gave no answer; empty if it gave one
  std::optional<Validity> certificate = {};
  std::optional<UnixSeconds> clock = {};  // the time on the server's clock, in its answer
  UnixSeconds asked = 0;                  // the time on this machine's clock when the answer came
};

struct CellFacts {
  std::vector<MemberFact> members = {};
  std::vector<ServerFact> servers = {};      // the members of the store
  std::vector<ServerFact> controllers = {};  // the controllers in the setting `controllers`
  std::optional<Reading> records = {};       // all records of the store, if they could be read
  std::string unread = {};                   // why the records could not be read
  std::optional<Validity> own = {};          // the certificate of the person who runs the check
  std::optional<Validity> authority = {};
  UnixSeconds now = 0;
};

struct CheckLine {
  bool is_well = true;
  std::string text = {};
  std::string advice = {};  // how to repair the fault: a command, or where to look

  bool operator==(const CheckLine&) const = default;
};

// Returns the lines that the check prints: at least one about each of the members, the clocks, the
// certificates, the controllers, the signers with their snapshots, the machines that wait to join,
// and the nodes.
[[nodiscard]] std::vector<CheckLine> judge_cell(const CellFacts& facts);

// The facts that the check needs from the records of a cell.
struct CellFindings {
  ControllersAtWork controllers = {};
  // The expiry times of the certificates of people and controllers, by the names in the
  // certificates. Revoked certificates are left out.
  std::map<std::string, UnixSeconds> expiries = {};
  // the nodes whose new certificates are overdue
  std::vector<std::string> late = {};
  std::size_t waiting = 0;  // how many nodes wait for a new certificate
  // The time of the newest event in the cell's history. If this time is in the future, a clock is
  // wrong.
  UnixSeconds newest = 0;
  std::map<std::string, SignerAtWork> signers = {};  // signers at work, by their names
  // The requests of machines that wait for a person's approval, by the fingerprint of the machine's
  // key.
  std::map<std::string, JoinRequest> joins = {};
  std::set<std::string> approvals = {};  // the fingerprints of keys that are approved
  std::set<std::string> nodes = {};      // nodes that have an identity record
  std::set<std::string> reporting = {};  // nodes whose fleet-agent is alive
};

// Collects the facts that the check needs from `records`, all records of a cell.
[[nodiscard]] CellFindings findings_in(const Reading& records, UnixSeconds now);

}  // namespace fleet
