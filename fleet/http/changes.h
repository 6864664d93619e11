// The news for those who follow the cell, as server-sent events. Records of rollouts and plans and
// what holds for all come whole; of a node only that it has changed, since nobody looks at all of
// them. Pure.
#pragma once

#include <string>
#include <vector>

#include "fleet/store/store.h"

namespace fleet {

// An empty text if nothing of it is told.
[[nodiscard]] std::string changes_event(Revision revision, const std::vector<Change>& changes);

// That the store cannot be heard, and why.
[[nodiscard]] std::string trouble_event(const std::string& reason);

// The first: from where on changes are told.
[[nodiscard]] std::string hello_event(Revision revision, bool follows);

}  // namespace fleet
