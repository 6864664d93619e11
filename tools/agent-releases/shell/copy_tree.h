// Copies a tree of files, directories and links into a fresh directory, as it is.
#pragma once

#include <functional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// Nothing of whose name `is_left_out` is true. Devices, FIFOs and sockets are refused; so is a tree
// that is deeper than that of a release.
[[nodiscard]] Outcome copy_tree(const Directory& from, const Directory& into,
                                const std::function<bool(const std::string&)>& is_left_out,
                                std::size_t depth = 0);

}  // namespace agent_releases
