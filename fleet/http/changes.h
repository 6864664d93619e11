// Makes the server-sent events for clients that follow the cell. For rollouts, plans and the cell
// itself, an event contains the whole records. For a node, an event says only that something has
// changed, since nobody looks at all nodes at once. Pure.
#pragma once

#include <string>
#include <vector>

#include "fleet/store/store.h"

namespace fleet {

// Returns the event about these changes, or an empty text if none of them is shown to clients.
[[nodiscard]] std::string changes_event(Revision revision, const std::vector<Change>& changes);

// Returns the event that tells a client that the store does not answer, with the reason.
[[nodiscard]] std::string trouble_event(const std::string& reason);

// Returns the first event of a stream. The event names the revision after which changes are sent.
[[nodiscard]] std::string hello_event(Revision revision, bool follows);

}  // namespace fleet
