// The list of all files, links and directories in a release that is a directory. Each has one line:
// MODE SHA256 PATH. A directory has `-` for the hash; a symbolic link has `link` for the mode, and
// the hash of its target.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

struct Listed {
  enum class Kind : std::uint8_t { file, directory, link };
  Kind kind = Kind::file;
  unsigned mode = 0;  // the permissions of a file: 0555 or 0444
  std::string sha256{};
  std::string path;  // relative to the release's directory, without `.` and `..`
};

[[nodiscard]] std::string to_line(const Listed& listed);
[[nodiscard]] Result<std::vector<Listed>> parse_list(std::string_view text);

// Returns true if the list has an executable file with this path. The program that a manifest names
// as `entry` must be such a file.
[[nodiscard]] bool has_program(const std::vector<Listed>& list, std::string_view path);

}  // namespace agent_releases
