// Compares the log of a run with patterns, called shapes, of the lines that the log may have. Any
// other line is unexpected.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace endurance {

class LogShapes {
 public:
  // Reads the shapes from a table such as log_lines.table.
  explicit LogShapes(const std::string& table_path);

  [[nodiscard]] bool has(std::string_view line) const;

 private:
  std::vector<std::string> shapes_;
};

// Returns whether the line has the shape. In a shape `#` stands for a number, `*` for a text that
// is not empty, and `@` for a generation, with its version if that is known.
bool matches(std::string_view line, std::string_view shape);

}  // namespace endurance
