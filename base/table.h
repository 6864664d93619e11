// Cells in columns: as wide as the widest of each, two blanks between, the last one as it is.
#pragma once

#include <string>
#include <vector>

namespace upgraderctl {

using Row = std::vector<std::string>;

[[nodiscard]] std::vector<std::string> in_columns(const std::vector<Row>& rows);

}  // namespace upgraderctl
