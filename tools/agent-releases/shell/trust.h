// Refuses directories and keys that a user other than root and the caller could change.
// agent-releases/trust.h does the same for single files.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "agent-releases/trust.h"
#include "tools/agent-releases/core/minisign.h"

namespace agent_releases {

// Checks the owner of a directory in which this program writes: the owner must be root or the
// caller, as in check_owner(). If a different user owns the directory, the refusal says that
// agent-releases must run as that user. Even root must not write into another user's directory:
// that user's agent could not change the files that root has written, and root would follow links
// that the user has made.
[[nodiscard]] Outcome check_caller(const struct stat& status, const std::string& path);

// Checks all directories above `path`, because the owner of a directory can replace everything
// below it. Each of these directories must belong to root or the caller. A directory to which every
// user may write (mode o+w) must have the sticky bit. `path` must be absolute and without links.
[[nodiscard]] Outcome check_parents(const std::string& path);
[[nodiscard]] Outcome check_parent(const struct stat& status, const std::string& parent,
                                   const std::string& path);

// Reads the public keys in a directory: its files *.pub. Refuses if there is no such file, or if
// one of these files is not a key or could be changed by a user other than root and the caller.
[[nodiscard]] Result<std::vector<PublicKey>> read_keys(const std::string& directory);

}  // namespace agent_releases
