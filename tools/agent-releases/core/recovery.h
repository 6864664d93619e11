// Chooses, by their names, the files in a directory of releases that a crash has left and that must
// be removed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agent_releases {

// Returns the manifests, signatures and lists of files in the directory whose release is missing.
// An interrupted command has left them.
[[nodiscard]] std::vector<std::string> orphans(const std::vector<std::string>& entries,
                                               std::string_view name);

inline constexpr std::string_view no_partial = ".";

// Returns the entries of .staging that must be removed. Partial downloads may stay, so that the
// next `add` of the same bytes continues them: if `wanted` is a name, only that one; if it is
// empty, all; if it is `no_partial`, none.
[[nodiscard]] std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                                std::string_view wanted);

}  // namespace agent_releases
