// Tables and other text for a person's terminal. Nodes and other people wrote parts of the text, so
// it is escaped. Long texts in cells of a table are cut, so that they do not push other cells off
// the screen.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace fleetctl {

// The limit for the width of a cell. Most names, such as `node/NODE/upgrade/COMPONENT`, are
// shorter.
inline constexpr std::size_t cell_columns_max = 128;
// The limit for the width of a row's last cell. No cell follows it, so it may be as wide as the
// longest text in a record.
inline constexpr std::size_t last_cell_columns_max = 1'100;

// Returns the rows as lines with aligned columns, escaped for a terminal.
[[nodiscard]] std::vector<std::string> table(std::vector<upgraderctl::Row> rows);

// Returns the JSON with escapes (\u and four digits) for all characters that a terminal would obey
// and for all bytes that are not valid UTF-8. To programs that parse it, the result means the same.
[[nodiscard]] std::string shown_json(std::string_view json);

}  // namespace fleetctl
