// Refuses directories and keys that another user could change. agent-releases/trust.h does the same
// for single files.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "agent-releases/trust.h"
#include "tools/agent-releases/core/minisign.h"

namespace agent_releases {

// Checks the owner of a directory in which this program writes: it must be root or the caller, as
// in check_owner(). The refusal names the user to run as. Even root is refused for a directory of
// another user: that user's agent could not change the files that root writes, and root would
// follow links that the user has made.
[[nodiscard]] Outcome check_caller(const struct stat& status, const std::string& path);

// Checks all directories above `path`, because the owner of a directory can replace everything
// below it. Each must belong to root or the caller. A directory to which anybody may write must
// have the sticky bit. `path` must be absolute and without links.
[[nodiscard]] Outcome check_parents(const std::string& path);
[[nodiscard]] Outcome check_parent(const struct stat& status, const std::string& parent,
                                   const std::string& path);

// Reads the keys in a directory, which are its files *.pub. Refuses if there is no such file, or if
// one of them is not a key or could be changed by another user.
[[nodiscard]] Result<std::vector<PublicKey>> read_keys(const std::string& directory);

}  // namespace agent_releases
