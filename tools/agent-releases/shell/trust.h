// Refuses directories and keys that another user could change. For single files see
// agent-releases/trust.h.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "agent-releases/trust.h"
#include "tools/agent-releases/core/minisign.h"

namespace agent_releases {

// Checks, like check_owner(), who owns a directory in which this program writes. The refusal names
// the user to run as. Refuses root, too, unless root is the owner: the owner's agent could not
// change files of root, and links that the owner has made could lead root to other places.
[[nodiscard]] Outcome check_caller(const struct stat& status, const std::string& path);

// Checks the directories above `path`, because the owner of a directory can replace everything
// below it. `path` must be absolute and without links. Every directory above it must belong to root
// or the caller; one that anybody may write to must have the sticky bit.
[[nodiscard]] Outcome check_parents(const std::string& path);
[[nodiscard]] Outcome check_parent(const struct stat& status, const std::string& parent,
                                   const std::string& path);

// Reads the keys of a directory: its files *.pub. Refuses if there is none, or if one of them is
// not a key or could be changed by another user.
[[nodiscard]] Result<std::vector<PublicKey>> read_keys(const std::string& directory);

}  // namespace agent_releases
