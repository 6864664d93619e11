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
// next `add` of the same bytes can continue them. `wanted` says which ones stay: if it is empty,
// all of them; if it is `no_partial`, none; otherwise only the one of that name.
[[nodiscard]] std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                                std::string_view wanted);

}  // namespace agent_releases
