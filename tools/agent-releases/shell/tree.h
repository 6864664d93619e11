// Compares a release's directory on disk with the list of its contents.
#pragma once

#include <cstdint>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/member.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// Checks that the directory has exactly the entries of the list, and that each entry has the kind
// and the mode in the list. Does not read the content of files.
[[nodiscard]] Outcome compare_tree(const Directory& directory, const std::vector<Listed>& list);

// Returns the bytes that a directory and everything below it take on disk.
[[nodiscard]] std::int64_t bytes_on_disk(const Directory& directory);

}  // namespace agent_releases
