// Functions by which other processes find the files that an upgrader's status.json names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace upgrader {

// Returns true if a path from a status.json contains U+FFFD. That character stands for each byte of
// a path that is not UTF-8, so the path may lead to another file, or to none. It may also be right,
// because a file's name can contain U+FFFD itself.
[[nodiscard]] inline bool is_mangled(std::string_view path) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  return path.find(replacement) != std::string_view::npos;
}

// Returns a path that other processes can use for `path` from an upgrader's status.json: `path`
// itself if it is absolute. An upgrader of an earlier version gives a relative link of --previous;
// it is resolved in the working directory of the upgrader's process `pid`. Returns nothing if
// `path` is relative and `pid` is absent. Does not check that the file exists.
[[nodiscard]] inline std::optional<std::string> path_for_others(const std::string& path,
                                                                std::optional<std::int64_t> pid) {
  if (path.starts_with('/')) return path;
  if (!pid) return std::nullopt;
  return "/proc/" + std::to_string(*pid) + "/cwd/" + path;
}

}  // namespace upgrader
