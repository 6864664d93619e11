// Tables and other text for a person's terminal. Nodes and other people wrote parts of the text, so
// it is escaped, and no cell is so wide that it pushes the others away.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace fleetctl {

// The limit for a cell's width: most names, such as `node/NODE/upgrade/COMPONENT`, fit.
inline constexpr std::size_t cell_columns_max = 128;
// The limit for the last cell of a row: as long as the longest text in a record, since it pushes no
// other cell away.
inline constexpr std::size_t last_cell_columns_max = 1'100;

// Returns the rows in columns, escaped.
[[nodiscard]] std::vector<std::string> table(std::vector<upgraderctl::Row> rows);

// Returns JSON in which each character that a terminal would obey, or that is not valid UTF-8, is
// spelled as \u and four digits. Readers of JSON see the same text.
[[nodiscard]] std::string shown_json(std::string_view json);

}  // namespace fleetctl
