// A component's ledger on disk: written whole and synced, or not at all.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "fleet/model/node_ledger.h"

namespace fleet {

// One line a part: its name, a blank, its text or its record in JSON.
[[nodiscard]] std::string ledger_text(const NodeLedger& ledger);
// Refused where it is damaged: what was begun is not known then, and nothing may be.
[[nodiscard]] agent_protocol::Result<NodeLedger> ledger_from(const std::string& text);

class LedgerFile {
 public:
  // Its directory exists.
  explicit LedgerFile(std::string path) : path_(std::move(path)) {}

  // An empty one where there is none yet.
  [[nodiscard]] agent_protocol::Result<NodeLedger> read() const;
  // Why it is not on disk; empty: it is.
  [[nodiscard]] std::string write(const NodeLedger& ledger) const;

 private:
  std::string path_;
};

}  // namespace fleet
