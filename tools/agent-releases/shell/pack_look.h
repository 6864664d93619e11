// Lists the files to be packed: every file, directory and link below a directory, or a single file.
// Only reads. packing.h decides whether they can be packed.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/packing.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// Returns every file, directory and link below the directory, in any order, without following
// links. Refuses if one of them cannot be read, or if there are more files than a release may have.
[[nodiscard]] Result<std::vector<Found>> look_at_tree(const Directory& tree);

// Returns the properties of an open file. `path` is its path.
[[nodiscard]] Result<Found> look_at_file(int file, const std::string& path);

// Returns the time of the last write to the file, in nanoseconds since 1970.
[[nodiscard]] std::int64_t written_ns(const struct stat& status);

}  // namespace agent_releases
