// Whom we trust with directories and keys; with single files, agent-releases/trust.h says.
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

// Whoever owns a directory may put another one into the place of what is below it. `path` is
// absolute and without links; all directories above it belong to root or the caller, and where
// anybody may write, the sticky bit protects what others own.
[[nodiscard]] Outcome check_parents(const std::string& path);
[[nodiscard]] Outcome check_parent(const struct stat& status, const std::string& parent,
                                   const std::string& path);

// The keys of a directory: its files *.pub. Refused where one of them is no key or not to be
// trusted, or where there is none.
[[nodiscard]] Result<std::vector<PublicKey>> read_keys(const std::string& directory);

}  // namespace agent_releases
