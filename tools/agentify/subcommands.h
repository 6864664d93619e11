// The commands of agentify for people: `agentify run`, `agentify unit` and `agentify doctor`.
#pragma once

namespace agentify {

// These functions take a command line whose first word, argv[0], is the command, and return an exit
// status.

// Executes the upgrader in this process (exec). Returns only after --print or --help, or after a
// failure.
[[nodiscard]] int perform_run(int argc, const char* const* argv);
// Prints a service file.
[[nodiscard]] int perform_unit(int argc, const char* const* argv);
// Runs a daemon, watches it, and prints the agentify options that suit it.
[[nodiscard]] int perform_doctor(int argc, const char* const* argv);

}  // namespace agentify
