// Writes the packed bytes: of one file, or of a directory as a tar compressed by zstd. The same
// directory always gives the same bytes, wherever and whenever it is packed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/packing.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/outgoing.h"

namespace agent_releases {

struct Written {
  std::int64_t bytes = 0;
  std::string sha256;
};

// Copies a file. Refuses if it has changed since it was found.
[[nodiscard]] Result<Written> copy_file(int file, const Found& found, Outgoing& into);

// Writes all files of the tree, which is in the order of its paths. Refuses if one has changed
// since it was found.
[[nodiscard]] Result<Written> write_archive(const Directory& directory,
                                            const std::vector<Found>& tree, Outgoing& into);

}  // namespace agent_releases
