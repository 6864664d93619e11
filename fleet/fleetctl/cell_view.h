// Makes the texts with which fleetctl shows the records of a cell. Does no input or output.
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

// Returns the records as one JSON object. Each value is the record exactly as the store has it.
// Each name is the record's key without /fleet/v1/.
[[nodiscard]] std::string as_json(const fleet::Reading& reading);

}  // namespace fleetctl
