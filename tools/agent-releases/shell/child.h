// Runs npm and Python as child processes, one at a time, never by a shell.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

// The most bytes that are read of a child's output.
inline constexpr std::size_t child_output_bytes_max = 65'536;

// Runs the program, found along PATH, in the directory, and waits until it ends. Returns its
// standard output; its standard error is ours. Refuses if the program is missing or fails. If this
// process is interrupted, the program is interrupted, too.
[[nodiscard]] Result<std::string> run_child(const std::vector<std::string>& command,
                                            const std::string& directory);

}  // namespace agent_releases
