// The file of a component's ledger on disk. A write replaces the whole file and syncs it, so a
// crash leaves the old file or the new one.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "fleet/model/node_ledger.h"

namespace fleet {

// Returns the ledger as text. Each member is one line: its name, a blank, and its value as text or
// as a record in JSON.
[[nodiscard]] std::string ledger_text(const NodeLedger& ledger);
// Reads a ledger from its text. Returns a Refusal if the text is damaged. In that case nobody knows
// which commands were begun, so no further command may begin.
[[nodiscard]] agent_protocol::Result<NodeLedger> ledger_from(const std::string& text);

class LedgerFile {
 public:
  // `path` is the file, whose directory must exist.
  explicit LedgerFile(std::string path) : path_(std::move(path)) {}

  // Reads the file. Returns an empty ledger if there is no file yet.
  [[nodiscard]] agent_protocol::Result<NodeLedger> read() const;
  // Writes the file and syncs it to disk. Returns an empty text on success, or else the reason for
  // the failure.
  [[nodiscard]] std::string write(const NodeLedger& ledger) const;

 private:
  std::string path_;
};

}  // namespace fleet
