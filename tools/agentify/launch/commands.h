// Performs `agentify run` and `agentify unit`: finds programs and directories, and acts.
#pragma once

#include <string>
#include <vector>

namespace agentify {

// `words` are those behind the command. Both return an exit status.

// Becomes the upgrader, so it returns only if it fails, or with --print or --help.
[[nodiscard]] int perform_run(const std::vector<std::string>& words);
// Prints a service file.
[[nodiscard]] int perform_unit(const std::vector<std::string>& words);

}  // namespace agentify
