// The check of a cell: finds in the members' answers and in the store's records which parts of the
// cell are well and which are not, and says how to mend these. Pure.
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
      {};  // why the member does not answer, or its complaint; empty if it is well
};

struct CellFacts {
  std::vector<MemberFact> members = {};
  std::optional<Reading> records = {};  // std::nullopt if they could not be read
  std::string unread = {};              // why they could not be read
  std::optional<Validity> own = {};     // of the certificate of the person who asks
  std::optional<Validity> authority = {};
  UnixSeconds now = 0;
};

struct CheckLine {
  bool is_well = true;
  std::string text = {};
  std::string advice = {};  // what to type, or to look at; empty if it is well

  bool operator==(const CheckLine&) const = default;
};

// Returns the findings: at least one line each about members, this machine's clock, certificates,
// controllers and nodes.
[[nodiscard]] std::vector<CheckLine> judge_cell(const CellFacts& facts);

}  // namespace fleet
