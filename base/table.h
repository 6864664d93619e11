// Prints cells in columns: each column is as wide as its widest cell, and two blanks follow it. The
// last cell of a row is not padded.
#pragma once

#include <string>
#include <vector>

namespace upgraderctl {

using Row = std::vector<std::string>;

[[nodiscard]] std::vector<std::string> in_columns(const std::vector<Row>& rows);

}  // namespace upgraderctl
