// Copies the content of a directory, with its files, directories and links, into a new directory.
#pragma once

#include <functional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

// Copies everything except the names for which `is_left_out` returns true. Refuses devices, FIFOs
// and sockets, and directories that are deeper than a release may be.
[[nodiscard]] Outcome copy_tree(const Directory& from, const Directory& into,
                                const std::function<bool(const std::string&)>& is_left_out,
                                std::size_t depth = 0);

}  // namespace agent_releases
