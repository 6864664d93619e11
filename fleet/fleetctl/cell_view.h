// Shows the records of a cell to people. Pure.
#pragma once

#include <string>
#include <vector>

#include "fleet/model/node_view.h"
#include "fleet/model/transaction.h"

namespace fleetctl {

using fleet::NodeView;

[[nodiscard]] std::vector<std::string> node_table(const std::vector<NodeView>& nodes);
[[nodiscard]] std::vector<std::string> node_page(const NodeView& node);
[[nodiscard]] std::vector<std::string> version_table(const std::vector<NodeView>& nodes);

// Returns the records as one JSON object. Each record is unchanged, as the store has it. The names
// in the object are the records' keys without /fleet/v1/.
[[nodiscard]] std::string as_json(const fleet::Reading& reading);

}  // namespace fleetctl
