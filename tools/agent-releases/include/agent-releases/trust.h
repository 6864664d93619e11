// Checks the owner of a file that a program executes or trusts. The owner must be root or the
// program's own user, and only the owner may be able to write to the file.
#pragma once

#include <sys/stat.h>

#include <string>

#include "agent-releases/result.h"

namespace agent_releases {

// Checks the owner of the file or directory `path`, whose stat(2) result is `status`. Refuses
// unless root or the caller owns the file and only the owner may write to it. The reason names
// `path`.
[[nodiscard]] Outcome check_owner(const struct stat& status, const std::string& path);

}  // namespace agent_releases
