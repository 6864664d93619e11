// The ledger's file: read, appended to and bounded, by programs that do not know of each other, and
// across power cuts. ledger.h knows what its lines mean.
//
// Its lock is its own, and held for moments. Only its owner can open it, so nobody else can lock
// it.
#pragma once

#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/lock.h"

namespace agent_releases {

// Whether the caller may read it; also where it does not exist.
[[nodiscard]] bool may_read_ledger(const Directory& directory);

// A ledger that is not there has no entries.
[[nodiscard]] Result<std::vector<Entry>> read_ledger(const Directory& directory);

// Cuts off the beginning of a line that a crash has left, appends the entry, and syncs. If that
// fails, takes back the part that was written. An event loop passes no patience, so as not to wait
// for the lock.
[[nodiscard]] Outcome append_to_ledger(const Directory& directory, const Entry& entry,
                                       const Patience& patience = {});

}  // namespace agent_releases
