// Checks a cell: decides from the answers of the store's members and from the store's records which
// parts of the cell work, and says how to repair the others. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/model/identities.h"
#include "fleet/model/transaction.h"

namespace fleet {

struct MemberFact {
  std::string url = {};
  std::string trouble =
      {};                // why the member does not answer, or what it complains of; may be empty
  bool is_full = false;  // the database is at its quota, and refuses writes
};

// The facts about one server, a member of the store or a controller, from one request by HTTPS.
struct ServerFact {
  std::string url = {};
  std::string trouble = {};  // why the server gave no answer; empty if it gave one
  std::optional<Validity> certificate = {};
  std::optional<UnixSeconds> clock = {};  // the time that the server's clock shows
  UnixSeconds asked = 0;                  // what this machine's clock showed when the answer came
};

struct CellFacts {
  std::vector<MemberFact> members = {};
  std::vector<ServerFact> servers = {};      // the members of the store
  std::vector<ServerFact> controllers = {};  // the controllers in the setting `controllers`
  std::optional<Reading> records = {};       // all records of the store; std::nullopt if unreadable
  std::string unread = {};                   // why the records could not be read
  // The validity of the certificate of the person who runs the check.
  std::optional<Validity> own = {};
  std::optional<Validity> authority = {};
  UnixSeconds now = 0;
};

struct CheckLine {
  bool is_well = true;
  std::string text = {};
  std::string advice = {};  // a command to type, or a place to look at; empty if all is well

  bool operator==(const CheckLine&) const = default;
};

// Returns the lines of the check: at least one each about the members, the clocks, the
// certificates, the controllers, the signers and their snapshots, machines that wait to join, and
// the nodes.
[[nodiscard]] std::vector<CheckLine> judge_cell(const CellFacts& facts);

}  // namespace fleet
