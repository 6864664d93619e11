// The commands of a publisher, `pack` and `key`: performs one, and prints the result.
#pragma once

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/options.h"

namespace agent_releases {

// These functions perform the command, and print on standard output which files they have made.
[[nodiscard]] Outcome perform_pack(const Options& options);
[[nodiscard]] Outcome perform_check(const Options& options);
[[nodiscard]] Outcome perform_key_make(const Options& options);
[[nodiscard]] Outcome perform_key_public(const Options& options);

}  // namespace agent_releases
