// Tables and other text for a person's terminal. Nodes and other people wrote the texts in it: it
// is escaped, and no cell is so wide that it pushes the others away.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"

namespace fleetctl {

// The longest names, `node/NODE/upgrade/COMPONENT`, are a little longer than this at most.
inline constexpr std::size_t cell_columns_max = 128;
// The last cell of a row stands in nobody's way, and is as long as a text of a record at most.
inline constexpr std::size_t last_cell_columns_max = 1'100;

// The rows in columns, escaped.
[[nodiscard]] std::vector<std::string> table(std::vector<upgraderctl::Row> rows);

// JSON as it is, but that what a terminal would obey, or is no UTF-8, is spelled as \u and four
// digits: to whoever reads JSON that is the same text.
[[nodiscard]] std::string shown_json(std::string_view json);

}  // namespace fleetctl
