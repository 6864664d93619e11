// The records of a cell, as people read them. Pure.
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

// The records as they are, below their keys without the root: one JSON object.
[[nodiscard]] std::string as_json(const fleet::Reading& reading);

}  // namespace fleetctl
