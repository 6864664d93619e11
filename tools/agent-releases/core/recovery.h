// Chooses, by their names, the files in a releases directory that a crash has left there and that
// must be removed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agent_releases {

// Returns the entries of the directory that are manifests, signatures or lists of files without a
// release: they are left from a command that was interrupted.
[[nodiscard]] std::vector<std::string> orphans(const std::vector<std::string>& entries,
                                               std::string_view name);

inline constexpr std::string_view no_partial = ".";

// Returns the entries of .staging that must be removed: all except partial downloads, so that the
// next `add` of the same bytes continues them. If `wanted` is a name, only that partial download
// may stay; if it is empty, all may; if it is `no_partial`, none may.
[[nodiscard]] std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                                std::string_view wanted);

}  // namespace agent_releases
