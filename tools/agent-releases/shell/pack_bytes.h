// Writes what is packed: the bytes of one file, or a tree as a tar by zstd that is the same to the
// byte wherever and whenever the same tree is packed.
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

// Refused where the file is no longer as it was found.
[[nodiscard]] Result<Written> copy_file(int file, const Found& found, Outgoing& into);

// The same for every file of the tree, which is in the order of its paths.
[[nodiscard]] Result<Written> write_archive(const Directory& directory,
                                            const std::vector<Found>& tree, Outgoing& into);

}  // namespace agent_releases
