// Chooses, by their names, the files in a directory of releases that a crash has left and that must
// be removed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agent_releases {

// Returns the manifests, signatures and lists of files that an interrupted command has left in the
// directory: their release is missing.
[[nodiscard]] std::vector<std::string> orphans(const std::vector<std::string>& entries,
                                               std::string_view name);

inline constexpr std::string_view no_partial = ".";

// Returns the entries of .staging that must be removed. Partial downloads may stay, so that the
// next `add` of the same bytes continues them. If `wanted` is a name, only the partial download of
// that name stays; if it is empty, all stay; if it is `no_partial`, none stays.
[[nodiscard]] std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                                std::string_view wanted);

}  // namespace agent_releases
