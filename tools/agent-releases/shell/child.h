// Runs npm and Python as children, one at a time, never by way of a shell.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

// So much is read of what a child prints.
inline constexpr std::size_t child_output_bytes_max = 65'536;

// Runs the program, found along PATH, in the directory, and waits until it ends. Its complaints go
// to our standard error; gives what it printed. Refused where it is not there, or fails. An
// interruption of this process is passed on to it.
[[nodiscard]] Result<std::string> run_child(const std::vector<std::string>& command,
                                            const std::string& directory);

}  // namespace agent_releases
