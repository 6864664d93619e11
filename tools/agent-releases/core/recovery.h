// Chooses, by their names, the files that must be removed from a directory of releases because a
// crash has left them behind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agent_releases {

// Returns the manifests, signatures and lists of files in the directory that belong to no release.
// An interrupted command has left them behind.
[[nodiscard]] std::vector<std::string> orphans(const std::vector<std::string>& entries,
                                               std::string_view name);

inline constexpr std::string_view no_partial = ".";

// Returns the entries of .staging that must be removed. Partial downloads may stay, so that the
// next `add` of the same bytes can continue them. If `wanted` is empty, all partial downloads stay.
// If it is `no_partial`, none stays. Otherwise only the partial download with the name `wanted`
// stays.
[[nodiscard]] std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                                std::string_view wanted);

}  // namespace agent_releases
