// Reads the ledger file, appends to it, and limits its size, even if several programs use it at the
// same time and a power cut may come at any moment. ledger.h interprets the lines of the file. The
// file is locked only for moments, independently of the writer's lock of the directory (store.h).
// Only the owner of the file can open it, so no other user can lock it.
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

// Appends the entry and syncs the file. First removes an incomplete line that a crash has left at
// the end. If the append fails, removes the part of the entry that was written. `patience` says how
// long to wait for the lock of the file: by default not at all, because an event loop must not
// block.
[[nodiscard]] Outcome append_to_ledger(const Directory& directory, const Entry& entry,
                                       const Patience& patience = {});

}  // namespace agent_releases
