// fleet-agent join: makes this machine a node of a cell.
#pragma once

#include "fleet/agent/options.h"

namespace fleet {

// Reads the token, asks the controllers that the token names, and writes the certificate and
// settings that they send. Returns the exit status: see join_talk.h. After a failure, the same call
// continues where it stopped.
[[nodiscard]] int join_cell(const JoinOptions& options);

}  // namespace fleet
