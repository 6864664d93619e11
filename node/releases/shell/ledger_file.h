// The ledger's file: read, appended to and bounded, by programs that do not know of each other, and
// across power cuts. What its lines mean is ledger.h's affair.
//
// It has a lock of its own, held for moments: an agent must not wait for a download to end.
#pragma once

#include <vector>

#include "agent-releases/result.h"
#include "node/releases/core/ledger.h"
#include "node/releases/shell/directory.h"

namespace agent_releases {

// A ledger that is not there has no entries.
[[nodiscard]] Result<std::vector<Entry>> read_ledger(const Directory& directory);

// Cuts off what a crash has left of a line, appends, and syncs. What cannot be appended whole is
// taken back.
[[nodiscard]] Outcome append_to_ledger(const Directory& directory, const Entry& entry);

}  // namespace agent_releases
