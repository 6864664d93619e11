// Makes the texts with which fleetctl shows the records of a cell, and tables for a terminal. Parts
// of the texts were written by nodes and other people, so all texts are escaped. Long texts in a
// table are cut, so that they do not push the other columns off the screen. Does no input or
// output.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"
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

// The greatest width of a cell of a table. Most names, such as `node/NODE/upgrade/COMPONENT`, are
// shorter.
inline constexpr std::size_t cell_columns_max = 128;
// The greatest width of the last cell of a row. No cell follows it, so there is room for the
// longest text of a record.
inline constexpr std::size_t last_cell_columns_max = 1'100;

// Returns the rows of a table as lines with aligned columns, escaped for a terminal.
[[nodiscard]] std::vector<std::string> table(std::vector<upgraderctl::Row> rows);

// Returns the JSON with an escape (\u and four digits) in place of each character that a terminal
// would obey. Bytes that are not valid UTF-8 become the escape of U+FFFD. A program that parses the
// JSON gets the same values with and without the escapes.
[[nodiscard]] std::string shown_json(std::string_view json);

}  // namespace fleetctl
