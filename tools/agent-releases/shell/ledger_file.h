// The ledger's file: reads it, appends to it and limits its size. Several programs may do so at the
// same time, and a power cut may come at any moment. ledger.h interprets the lines.
//
// The file has a lock of its own, which is held only for moments. Only the file's owner can open
// it, so nobody else can lock it.
#pragma once

#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/lock.h"

namespace agent_releases {

// Returns true if the caller may read the ledger, or if it does not exist.
[[nodiscard]] bool may_read_ledger(const Directory& directory);

// Reads the entries. Returns none if the ledger does not exist.
[[nodiscard]] Result<std::vector<Entry>> read_ledger(const Directory& directory);

// Appends the entry and syncs. Before that, removes a last line that a crash has cut off. If the
// append fails, removes the part of the entry that was written. `patience` says how long to wait
// for the lock; the default is not to wait, which an event loop needs.
[[nodiscard]] Outcome append_to_ledger(const Directory& directory, const Entry& entry,
                                       const Patience& patience = {});

}  // namespace agent_releases
