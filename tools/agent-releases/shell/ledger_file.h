// The ledger's file: reads it, appends to it, and limits its size. Several programs may do this at
// the same time, and a power cut may come at any moment. ledger.h interprets the lines.
//
// The file has its own lock, which is held only for moments. Only the file's owner can open the
// file, so no other user can lock it.
#pragma once

#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/lock.h"

namespace agent_releases {

// Returns true if the caller may read the ledger, or if the ledger does not exist.
[[nodiscard]] bool may_read_ledger(const Directory& directory);

// Reads the entries of the ledger. Returns an empty list if the ledger does not exist.
[[nodiscard]] Result<std::vector<Entry>> read_ledger(const Directory& directory);

// Appends the entry and syncs the file. First removes an incomplete last line, which a crash has
// left. If the append fails, removes whatever part of the entry was written. `patience` says how
// long to wait for the lock. By default the function does not wait, as an event loop requires.
[[nodiscard]] Outcome append_to_ledger(const Directory& directory, const Entry& entry,
                                       const Patience& patience = {});

}  // namespace agent_releases
