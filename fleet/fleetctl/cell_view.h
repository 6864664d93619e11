// Makes the texts and tables in which fleetctl shows the records of a cell. Parts of them come from
// nodes and people, so they are escaped for a terminal. Long texts in a table are cut. Does no
// input or output.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"
#include "fleet/model/nodes/node_view.h"
#include "fleet/model/records/transaction.h"

namespace fleetctl {

using fleet::NodeView;

[[nodiscard]] std::vector<std::string> node_table(const std::vector<NodeView>& nodes);
// what the node waits for, by component
using Waits = std::map<std::string, std::string>;
[[nodiscard]] std::vector<std::string> node_page(const NodeView& node, const Waits& waits = {});
[[nodiscard]] std::vector<std::string> version_table(const std::vector<NodeView>& nodes);

// Returns the records as one JSON object, by their keys without `/fleet/v1/`. Each value is the
// record as the store has it, or a JSON string if it is not a JSON object.
[[nodiscard]] std::string as_json(const fleet::Reading& reading);

// The maximum width of a table cell. Most names, such as `node/NODE/upgrade/COMPONENT`, are
// shorter.
inline constexpr std::size_t cell_columns_max = 128;
// The maximum width of a row's last cell. It may be wider, since no other cell follows.
inline constexpr std::size_t last_cell_columns_max = 1'100;

// Returns the rows of a table as lines with aligned columns, escaped for a terminal.
[[nodiscard]] std::vector<std::string> table(std::vector<upgraderctl::Row> rows);

}  // namespace fleetctl
