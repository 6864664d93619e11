// Small files that are read whole, and replaced whole.
#pragma once

#include <string>

namespace fleet {

// Empty where it cannot be read.
[[nodiscard]] std::string content_of_file(const std::string& path);
// The new content, or the old one, whatever happens meanwhile. Why not; empty: it is replaced.
[[nodiscard]] std::string replace_file(const std::string& path, const std::string& content);

}  // namespace fleet
