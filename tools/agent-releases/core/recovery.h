// Chooses, by their names, the files in a releases directory that a crash has left there and that
// have to be removed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agent_releases {

// Of the entries of the directory: manifests, signatures and lists of files without a release. Only
// a release makes them more than the rest of a deed that was cut short.
[[nodiscard]] std::vector<std::string> orphans(const std::vector<std::string>& entries,
                                               std::string_view name);

inline constexpr std::string_view no_partial = ".";

// Of the entries of .staging: all but what was fetched in part, unless it is of no use either, so
// that the next `add` of the same bytes goes on where this one ended. `wanted` is the name of the
// one partial file that may stay, or empty: any may; or `no_partial`.
[[nodiscard]] std::vector<std::string> leavings(const std::vector<std::string>& entries,
                                                std::string_view wanted);

}  // namespace agent_releases
