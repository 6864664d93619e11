// Unpacks an archive, which may be hostile, into a directory of its own. member.h decides which
// names and links are refused. Accepts tar, plain or compressed by gzip, xz or zstd.
#pragma once

#include <cstdint>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// Reads the archive from its beginning, and makes its files durably. Returns the list of these
// files in the form of file_list.h. After a refusal the caller must remove the files that were
// made.
[[nodiscard]] Result<std::string> unpack(int archive, std::int64_t archive_bytes,
                                         const Directory& into);

}  // namespace agent_releases
