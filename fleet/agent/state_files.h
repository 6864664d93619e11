// Reads and writes two kinds of files in fleet-agent's state directory: the ledger of each
// component, and the file by which a node recognizes its store. A write replaces the file
// atomically.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "fleet/model/agent/node_ledger.h"
#include "fleet/model/signer/store_snapshots.h"

namespace fleet {

// Returns the content of a ledger file. Each line contains the name of a member, a blank, and the
// member's value as text or as a record in JSON.
[[nodiscard]] std::string ledger_text(const NodeLedger& ledger);
// Parses the content of a ledger file. Returns a Refusal if it is damaged. No new command may begin
// then, since it is unknown which commands were begun.
[[nodiscard]] agent_protocol::Result<NodeLedger> ledger_from(const std::string& text);

// The file with a component's ledger (the commands that were begun). After a crash, it has either
// the old or the new content.
class LedgerFile {
 public:
  // `path` is the path of the ledger file. The directory of the file must exist.
  explicit LedgerFile(std::string path) : path_(std::move(path)) {}

  // Reads the file. Returns an empty ledger if there is no file yet.
  [[nodiscard]] agent_protocol::Result<NodeLedger> read() const;
  // Writes the file and syncs it to disk. Returns an empty string on success, or else the reason
  // for the failure.
  [[nodiscard]] std::string write(const NodeLedger& ledger) const;

 private:
  std::string path_;
};

// ---- the file by which a node recognizes its store. Its only line contains the store's epoch (a
// number that grows with each restore) and the highest revision that the node has seen

// Reads the file. Returns a default KnownStore if the file is absent, as on a node that has not
// seen any store yet. Returns a Refusal if the file is damaged or cannot be read.
[[nodiscard]] agent_protocol::Result<KnownStore> read_known_store(const std::string& path);
// Replaces the whole file. Returns an empty string on success, or else the reason for the failure.
// After a failure, the file has either the old or the new content.
[[nodiscard]] std::string write_known_store(const std::string& path, const KnownStore& known);

}  // namespace fleet
