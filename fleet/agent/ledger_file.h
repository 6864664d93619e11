// The file of a component's ledger on disk: it is written completely and synced, or not at all.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "fleet/model/node_ledger.h"

namespace fleet {

// Returns the ledger as text. Each part is one line: its name, a blank, and its text or its record
// in JSON.
[[nodiscard]] std::string ledger_text(const NodeLedger& ledger);
// Returns a Refusal if the text is damaged: then nobody knows which command was begun, and no other
// may begin.
[[nodiscard]] agent_protocol::Result<NodeLedger> ledger_from(const std::string& text);

class LedgerFile {
 public:
  // The directory of the file must exist.
  explicit LedgerFile(std::string path) : path_(std::move(path)) {}

  // Returns an empty ledger if there is no file yet.
  [[nodiscard]] agent_protocol::Result<NodeLedger> read() const;
  // Returns why the ledger is not on disk, or an empty text if it is.
  [[nodiscard]] std::string write(const NodeLedger& ledger) const;

 private:
  std::string path_;
};

}  // namespace fleet
