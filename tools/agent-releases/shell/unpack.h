// Unpacks an archive into a directory of its own, whatever the archive holds: member.h says which
// names and links are refused. Reads tar, plain or by gzip, xz or zstd.
#pragma once

#include <cstdint>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// Reads the archive from its beginning and makes all that is in it, durably. Gives the list of what
// was made: see tree.h. After a refusal the caller removes the files that it has made.
[[nodiscard]] Result<std::string> unpack(int archive, std::int64_t archive_bytes,
                                         const Directory& into);

}  // namespace agent_releases
