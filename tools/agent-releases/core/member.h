// The members of a release that is a directory: its files, links and directories. This file checks
// the names and links in an archive before files are made from them. The archive may be hostile,
// and no file or link may lead out of the archive's own directory. This file also writes and parses
// the list of all members.
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

// The most bytes of the list of all members, as it is written by to_line().
inline constexpr std::size_t member_list_bytes_max = 16'777'216;
inline constexpr std::size_t member_path_bytes_max = 4'095;

// Returns the most bytes to which an archive may unpack: a hundred times its own size plus 64 MiB.
// Without the 64 MiB, the limit would be too strict for small archives.
[[nodiscard]] constexpr std::int64_t unpacked_bytes_max(std::int64_t archive_bytes) {
  constexpr std::int64_t small_one = 67'108'864;
  constexpr std::int64_t dense = 100;
  return small_one + archive_bytes * dense;
}

// Splits the path of an archive's entry into its components. The directory itself, `./`, has no
// components. Refuses absolute paths, `..`, invalid UTF-8, control characters, and paths that are
// too deep or too long.
[[nodiscard]] Result<std::vector<std::string>> member_path(std::string_view path);

// Checks the target of a symbolic link. `depth` is the number of components in the path of the
// directory that contains the link. The target must be relative, and must not lead out of the
// archive's directory. The target may have `..` only at its beginning: a name before a `..` could
// be a link that leads out.
[[nodiscard]] Outcome check_link_target(std::string_view target, std::size_t depth);

// One line in the list of all files, links and directories of a release: MODE SHA256 PATH. The line
// of a directory has `-` for the hash. The line of a symbolic link has `link` for the mode, and the
// hash of the path that the link contains.
struct Listed {
  enum class Kind : std::uint8_t { file, directory, link };
  Kind kind = Kind::file;
  unsigned mode = 0;  // the permissions of a file: 0555 or 0444
  std::string sha256{};
  std::string path;  // relative to the release's directory, without `.` and `..`
};

[[nodiscard]] std::string to_line(const Listed& listed);
[[nodiscard]] Result<std::vector<Listed>> parse_list(std::string_view text);

// Returns true if the list has an executable file with this path. The release's program, which the
// member `entry` of a manifest names, must be an executable file.
[[nodiscard]] bool has_program(const std::vector<Listed>& list, std::string_view path);

}  // namespace agent_releases
