// The commands of a publisher, `pack` and `key`: performs one, and prints the result.
#pragma once

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/options.h"

namespace agent_releases {

// Each of the four functions performs the command of its name, and prints on standard output which
// files it has made.
[[nodiscard]] Outcome perform_pack(const Options& options);
[[nodiscard]] Outcome perform_check(const Options& options);
[[nodiscard]] Outcome perform_key_make(const Options& options);
[[nodiscard]] Outcome perform_key_public(const Options& options);

}  // namespace agent_releases
