// Small files that are read whole, and replaced whole.
#pragma once

#include <string>

namespace fleet {

// Empty where it cannot be read.
[[nodiscard]] std::string content_of_file(const std::string& path);
// The file has its new content or its old one, whatever happens to the machine meanwhile; once this
// returns without trouble, the new one stands on the disk. Why not; empty: it is replaced.
[[nodiscard]] std::string replace_file(const std::string& path, const std::string& content,
                                       unsigned int mode = 0666);

}  // namespace fleet
