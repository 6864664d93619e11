// A release's directory on disk, compared with the list of what it was.
#pragma once

#include <cstdint>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/file_list.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// Compares what is there with the list, but for what files hold: every entry is there, of its kind
// and mode, and no other.
[[nodiscard]] Outcome compare_tree(const Directory& directory, const std::vector<Listed>& list);

// The bytes that a directory and everything below it take on disk.
[[nodiscard]] std::int64_t bytes_on_disk(const Directory& directory);

}  // namespace agent_releases
