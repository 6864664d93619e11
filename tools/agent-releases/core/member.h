// The members of a release that is a directory: its files, links and directories. Checks the names
// and links of an archive before files are made from them: the archive may be hostile, and they
// must stay below its own directory. Writes and parses the list of all members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

inline constexpr std::size_t members_max = 100'000;
inline constexpr std::size_t member_depth_max = 64;
inline constexpr std::size_t member_path_bytes_max = 4'095;

// Returns the most bytes to which an archive may unpack: a hundred times its own size plus 64 MiB.
// The 64 MiB keep the limit from being too strict for small archives.
[[nodiscard]] constexpr std::int64_t unpacked_bytes_max(std::int64_t archive_bytes) {
  constexpr std::int64_t small_one = 67'108'864;
  constexpr std::int64_t dense = 100;
  return small_one + archive_bytes * dense;
}

// Splits an entry's path into its components; the directory itself, `./`, has none. Refuses
// absolute paths, `..`, invalid UTF-8, control characters, and paths that are too deep or too long.
[[nodiscard]] Result<std::vector<std::string>> member_path(std::string_view path);

// Checks the target of a symbolic link in a directory with `depth` components. The target must be
// relative, and must not lead out of the archive's directory. It may have `..` only at its
// beginning: a name before a `..` could itself be a link that leads out.
[[nodiscard]] Outcome check_link_target(std::string_view target, std::size_t depth);

// One line in the list of all files, links and directories of a release: MODE SHA256 PATH. A
// directory has `-` for the hash; a symbolic link has `link` for the mode, and the hash of its
// target.
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
