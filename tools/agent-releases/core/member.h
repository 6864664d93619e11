// The entries of an archive, before anything is made of them: a hostile archive's names and links
// lead nowhere but below its own directory.
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

// So much may come out of an archive: a hundred times its size, and 64 MiB for small ones.
[[nodiscard]] constexpr std::int64_t unpacked_bytes_max(std::int64_t archive_bytes) {
  constexpr std::int64_t small_one = 67'108'864;
  constexpr std::int64_t dense = 100;
  return small_one + archive_bytes * dense;
}

// The components of an entry's path; none for the directory itself, `./`. Refused are absolute
// paths, `..`, what is no UTF-8 or has control characters, and what is too deep or too long.
[[nodiscard]] Result<std::vector<std::string>> member_path(std::string_view path);

// The target of a symbolic link in a directory of so many components: relative, and with `..` only
// at its beginning and not above the archive's directory. Behind a name a `..` could lead out by
// way of another link.
[[nodiscard]] Outcome check_link_target(std::string_view target, std::size_t depth);

}  // namespace agent_releases
