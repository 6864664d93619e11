// The ledger's file: read, appended to and bounded, by programs that do not know of each other, and
// across power cuts. What its lines mean is ledger.h's affair.
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

// Cuts off what a crash has left of a line, appends, and syncs. What cannot be appended whole is
// taken back. An event loop has no patience.
[[nodiscard]] Outcome append_to_ledger(const Directory& directory, const Entry& entry,
                                       const Patience& patience = {});

}  // namespace agent_releases
