// Makes the server-sent events for clients that follow the cell. Records of rollouts, of plans and
// of the whole cell are sent completely. For a node, only the fact that it has changed is sent,
// since nobody looks at all nodes. Pure.
#pragma once

#include <string>
#include <vector>

#include "fleet/store/store.h"

namespace fleet {

// Returns the event, or an empty text if clients are told of none of the changes.
[[nodiscard]] std::string changes_event(Revision revision, const std::vector<Change>& changes);

// Returns the event that the store cannot be heard, and why.
[[nodiscard]] std::string trouble_event(const std::string& reason);

// Returns the first event of a stream, with the revision from which on changes are told.
[[nodiscard]] std::string hello_event(Revision revision, bool follows);

}  // namespace fleet
