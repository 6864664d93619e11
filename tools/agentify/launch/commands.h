// Performs `agentify run` and `agentify unit`: finds the programs and directories, and executes the
// upgrader or prints a text.
#pragma once

#include <string>
#include <vector>

namespace agentify {

// Both functions get the arguments after the command, and return an exit status.

// Executes the upgrader in this process, so it returns only if that fails, or with --print or
// --help.
[[nodiscard]] int perform_run(const std::vector<std::string>& words);
// Prints the service file of `agentify unit`.
[[nodiscard]] int perform_unit(const std::vector<std::string>& words);

}  // namespace agentify
