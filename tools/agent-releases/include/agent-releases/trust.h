// A program trusts a file that it executes or believes only if root or the program's own user owns
// it, and nobody else may write to it.
#pragma once

#include <sys/stat.h>

#include <string>

#include "agent-releases/result.h"

namespace agent_releases {

// `status` is that of the file or directory `path`. Refused if it belongs to another user than root
// and the caller, or if anybody else may write to it; the reason names `path`.
[[nodiscard]] Outcome check_owner(const struct stat& status, const std::string& path);

}  // namespace agent_releases
