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

// check_owner() for a directory in which we write; the refusal says as whom to run. Root is
// refused, too: what root wrote there the owner's agent could not change, and the owner's links
// could lead root to other places.
[[nodiscard]] Outcome check_caller(const struct stat& status, const std::string& path);

// Checks the directories above `path`, because the owner of a directory can replace everything
// below it. `path` is absolute and has no links in it. Every directory above it must belong to root
// or the caller; one that anybody may write to must have the sticky bit.
[[nodiscard]] Outcome check_parents(const std::string& path);
[[nodiscard]] Outcome check_parent(const struct stat& status, const std::string& parent,
                                   const std::string& path);

// The keys of a directory: its files *.pub. Refused where one of them is no key or not to be
// trusted, or where there is none.
[[nodiscard]] Result<std::vector<PublicKey>> read_keys(const std::string& directory);

}  // namespace agent_releases
