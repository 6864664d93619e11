// Looks at what is to be packed: every file, directory and link of a tree, or one file. Judges
// nothing: see packing.h. Changes nothing.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/packing.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// All that is below the directory, in no order. No link is followed. Refused where anything cannot
// be read, and where there is more than a release may have.
[[nodiscard]] Result<std::vector<Found>> look_at_tree(const Directory& tree);

// The open file that has this path.
[[nodiscard]] Result<Found> look_at_file(int file, const std::string& path);

// When the file was last written, in nanoseconds, as Found has it.
[[nodiscard]] std::int64_t written_ns(const struct stat& status);

}  // namespace agent_releases
