// Lists the files to be packed: every file, directory and link below a directory, or one file.
// Changes and judges nothing: packing.h judges.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/packing.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// Returns everything below the directory, in any order. Follows no link. Refuses if a part cannot
// be read, or if there are more files than a release may have.
[[nodiscard]] Result<std::vector<Found>> look_at_tree(const Directory& tree);

// Returns the facts about the open file at this path.
[[nodiscard]] Result<Found> look_at_file(int file, const std::string& path);

// Returns when the file was last written, in nanoseconds since 1970, as in Found.
[[nodiscard]] std::int64_t written_ns(const struct stat& status);

}  // namespace agent_releases
