// Makes the server-sent events for clients that follow the cell. For rollouts, plans and the cell
// itself, an event contains the changed records as a whole. For nodes, it contains only the names
// of those that have changed, since nobody looks at all nodes at once. Does no input or output.
#pragma once

#include <string>
#include <vector>

#include "fleet/store/store.h"

namespace fleet {

// Returns the event that reports these changes to clients. Returns an empty text if clients are
// shown none of them.
[[nodiscard]] std::string changes_event(Revision revision, const std::vector<Change>& changes);

// Returns the event that tells clients that the store does not answer, and why.
[[nodiscard]] std::string trouble_event(const std::string& reason);

// Returns the first event of a stream. It names a revision; all later changes follow in the stream.
[[nodiscard]] std::string hello_event(Revision revision, bool follows);

}  // namespace fleet
