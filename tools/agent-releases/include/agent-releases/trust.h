// Whom a program trusts with the files that it executes or believes: root and itself.
#pragma once

#include <sys/stat.h>

#include <string>

#include "agent-releases/result.h"

namespace agent_releases {

// `status` is that of the file or directory `path`. Refused if it belongs to another user than root
// and the caller, or if anybody else may write to it; the reason names `path`.
[[nodiscard]] Outcome check_owner(const struct stat& status, const std::string& path);

}  // namespace agent_releases
