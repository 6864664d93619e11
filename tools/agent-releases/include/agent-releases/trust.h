// Checks who owns a file that a program executes or trusts: the owner must be root or the program's
// own user, and no other user may be able to write to the file.
#pragma once

#include <sys/stat.h>

#include <string>

#include "agent-releases/result.h"

namespace agent_releases {

// `status` is that of the file or directory `path`. Refuses if it belongs to another user than root
// and the caller, or if anybody else may write to it; the reason names `path`.
[[nodiscard]] Outcome check_owner(const struct stat& status, const std::string& path);

}  // namespace agent_releases
