// Performs the commands of publishers, `pack` and `key`, and prints the results.
#pragma once

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/options.h"

namespace agent_releases {

// Each of the four functions performs one command, and prints on standard output the files that it
// has made.
[[nodiscard]] Outcome perform_pack(const Options& options);
[[nodiscard]] Outcome perform_check(const Options& options);
[[nodiscard]] Outcome perform_key_make(const Options& options);
[[nodiscard]] Outcome perform_key_public(const Options& options);

}  // namespace agent_releases
