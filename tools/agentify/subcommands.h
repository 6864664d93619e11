// The commands of agentify for people: `agentify run`, `agentify unit` and `agentify doctor`.
#pragma once

#include <string>
#include <vector>

namespace agentify {

// These functions take the arguments after the command, and return an exit status.

// Executes the upgrader in this process (exec). Returns only after --print or --help, or after a
// failure.
[[nodiscard]] int perform_run(const std::vector<std::string>& words);
// Prints a service file.
[[nodiscard]] int perform_unit(const std::vector<std::string>& words);
// Runs a daemon, watches it, and prints the agentify options that suit it.
[[nodiscard]] int perform_doctor(const std::vector<std::string>& words);

}  // namespace agentify
