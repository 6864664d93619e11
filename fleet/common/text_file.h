// Reads small files completely, and replaces them atomically.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"

namespace fleet {

// Returns the file's whole content, or an empty string if the file cannot be read.
[[nodiscard]] std::string content_of_file(const std::string& path);
// Returns the content of a regular file, or no value if the path does not exist. Returns a Refusal
// if the file cannot be read or is not regular: reading a FIFO, for example, could block for ever.
[[nodiscard]] agent_protocol::Result<std::optional<std::string>> content_of_regular_file(
    const std::string& path);
// Returns why the file cannot be read, such as `PATH: No such file or directory`, or an empty
// string if it can be read.
[[nodiscard]] std::string why_unread(const std::string& path);
// Returns at most `most` bytes from the beginning of the file. Returns no value if the file cannot
// be read or is a directory.
[[nodiscard]] std::optional<std::string> beginning_of_file(const std::string& path,
                                                           std::size_t most);
// Replaces the file's content, and syncs the file to disk. After a crash, the file has either the
// old or the new content. Returns the reason for a failure, or an empty string on success.
[[nodiscard]] std::string replace_file(const std::string& path, const std::string& content,
                                       unsigned int mode = 0644);

}  // namespace fleet
