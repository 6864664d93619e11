// Writes the bytes of a release: of one file, or of a directory as a tar compressed by zstd. The
// same directory always gives the same bytes, on any machine and at any time.
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

// Copies a file. Refuses if the file has changed since the plan was made.
[[nodiscard]] Result<Written> copy_file(int file, const Found& found, Outgoing& into);

// Writes all files of the tree, in the order of their paths. Refuses if one of them has changed
// since the plan was made.
[[nodiscard]] Result<Written> write_archive(const Directory& directory,
                                            const std::vector<Found>& tree, Outgoing& into);

}  // namespace agent_releases
