// Functions by which other processes find the files that an upgrader's status.json names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace upgrader {

// Returns true if a path from a status.json contains U+FFFD. status.json has this character in
// place of each byte that is not UTF-8, so the path may lead to a wrong file, or to none. The path
// may also be right, because a file's name can contain U+FFFD itself.
[[nodiscard]] inline bool is_mangled(std::string_view path) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  return path.find(replacement) != std::string_view::npos;
}

// Returns a path that other processes can use for `path`, which was read from an upgrader's
// status.json. An absolute `path` is returned unchanged. A relative `path` comes from an older
// upgrader, for the link of --previous. It is resolved in the working directory of the upgrader's
// process `pid`. Returns nothing if `path` is relative and `pid` is absent. Does not check that the
// file exists.
[[nodiscard]] inline std::optional<std::string> path_for_others(const std::string& path,
                                                                std::optional<std::int64_t> pid) {
  if (path.starts_with('/')) return path;
  if (!pid) return std::nullopt;
  return "/proc/" + std::to_string(*pid) + "/cwd/" + path;
}

}  // namespace upgrader
