// The files in fleet-agent's state directory: the ledger of each component, and the file by which a
// node recognises its store. A write replaces the whole file.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "fleet/model/node_ledger.h"
#include "fleet/model/store_snapshots.h"

namespace fleet {

// Returns the ledger as text. Each member is one line: its name, a blank, and its value as text or
// as a record in JSON.
[[nodiscard]] std::string ledger_text(const NodeLedger& ledger);
// Reads a ledger from its text. Returns a Refusal if the text is damaged. In that case nobody knows
// which commands were begun, so no further command may begin.
[[nodiscard]] agent_protocol::Result<NodeLedger> ledger_from(const std::string& text);

// The file of a component's ledger on disk. A write syncs the file, so a crash leaves the old file
// or the new one.
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

// ---- the file by which a node recognises its store: one line with the store's epoch and the
// highest revision that the node has seen

// Reads the file. If the file is absent or cannot be read, returns the value for a node that has
// not seen any store yet.
[[nodiscard]] KnownStore read_known_store(const std::string& path);
// Replaces the whole file. Returns an empty text on success, or else the reason for the failure.
// After a failure, the file is unchanged.
[[nodiscard]] std::string write_known_store(const std::string& path, const KnownStore& known);

}  // namespace fleet
