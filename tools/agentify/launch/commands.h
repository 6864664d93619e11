// Performs `agentify run` and `agentify unit`: finds programs and directories, and then executes
// the upgrader or prints a text.
#pragma once

#include <string>
#include <vector>

namespace agentify {

// The parameter of the two functions has the arguments after the command. Both return an exit
// status.

// Executes the upgrader in this process. Returns only after --print or --help, or after a failure.
[[nodiscard]] int perform_run(const std::vector<std::string>& words);
// Prints a service file.
[[nodiscard]] int perform_unit(const std::vector<std::string>& words);

}  // namespace agentify
