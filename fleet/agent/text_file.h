// Small files that are read whole, and replaced whole.
#pragma once

#include <string>

namespace fleet {

// Empty where it cannot be read.
[[nodiscard]] std::string content_of_file(const std::string& path);
// The new content, or the old one, whatever happens meanwhile. Why not; empty: it is replaced.
[[nodiscard]] std::string replace_file(const std::string& path, const std::string& content);

// The same, and what is told as replaced stands on the disk, whatever happens to the machine.
[[nodiscard]] std::string replace_file_durably(const std::string& path, const std::string& content,
                                               unsigned int mode);

}  // namespace fleet
