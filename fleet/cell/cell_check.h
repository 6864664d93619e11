// What is well in a cell and what is not, of its members' answers and its records, and what to do
// about it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/model/identities.h"
#include "fleet/model/transaction.h"

namespace fleet {

struct MemberFact {
  std::string url = {};
  std::string trouble = {};  // why it does not answer, or what it complains of; empty: it is well
};

struct CellFacts {
  std::vector<MemberFact> members = {};
  std::optional<Reading> records = {};  // none: they could not be read
  std::string unread = {};              // why
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

// Members, this machine's clock, certificates, controllers, nodes: at least a line for each.
[[nodiscard]] std::vector<CheckLine> judge_cell(const CellFacts& facts);

}  // namespace fleet
