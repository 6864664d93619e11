// Runs npm and Python as child processes, one after the other, and never by a shell.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

// The most bytes that are read of a child's output.
inline constexpr std::size_t child_output_bytes_max = 65'536;

// Runs a program in the directory, and waits for its end. The program is found by PATH. Returns its
// standard output; its standard error is that of this process. Refuses if the program is missing or
// fails. If this process is interrupted, so is the program.
[[nodiscard]] Result<std::string> run_child(const std::vector<std::string>& command,
                                            const std::string& directory);

}  // namespace agent_releases
