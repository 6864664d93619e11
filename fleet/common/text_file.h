// Small files that are read and replaced as a whole.
#pragma once

#include <string>

namespace fleet {

// Returns an empty text if the file cannot be read.
[[nodiscard]] std::string content_of_file(const std::string& path);
// Replaces the file's content. At any crash the file has the old content or the new one; after a
// success the new one is durable. Returns why it failed, or an empty text if the file is replaced.
[[nodiscard]] std::string replace_file(const std::string& path, const std::string& content,
                                       unsigned int mode = 0666);

}  // namespace fleet
