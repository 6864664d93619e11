// fleet-agent join: makes this machine a node of a cell.
#pragma once

#include "fleet/agent/options.h"

namespace fleet {

// Reads the token, asks the controllers that it names, and writes what they answer. Returns the
// exit status: see join_talk.h. After a failure the same call goes on where it was.
[[nodiscard]] int join_cell(const JoinOptions& options);

}  // namespace fleet
