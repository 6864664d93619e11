// Prints cells in columns. Each column is as wide as its widest cell, and is followed by two
// blanks. The last cell of a row is not padded.
#pragma once

#include <string>
#include <vector>

namespace upgraderctl {

using Row = std::vector<std::string>;

[[nodiscard]] std::vector<std::string> in_columns(const std::vector<Row>& rows);

}  // namespace upgraderctl
