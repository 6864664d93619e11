// Performs a command of agent-releases, and prints the result.
#pragma once

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/options.h"

namespace agent_releases {

inline constexpr int exit_usage = 1;
inline constexpr int exit_absent = 2;
inline constexpr int exit_refused = 3;
inline constexpr int exit_cut_off = 4;
inline constexpr int exit_system = 5;
inline constexpr int exit_damaged = 6;

[[nodiscard]] int exit_status_of(Trouble trouble);

// Performs the command, and prints its result on standard output.
[[nodiscard]] Outcome perform(const Options& options);

// Performs `pack`, `pack --check`, `key make` or `key public`, the commands of publishers, and
// prints the result on standard output. perform() calls these four functions. pack.cc,
// check_published.cc and key_files.cc define them.
[[nodiscard]] Outcome perform_pack(const Options& options);
[[nodiscard]] Outcome perform_check(const Options& options);
[[nodiscard]] Outcome perform_key_make(const Options& options);
[[nodiscard]] Outcome perform_key_public(const Options& options);

}  // namespace agent_releases
