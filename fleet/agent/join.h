// fleet-agent join: makes this machine a node of a cell.
#pragma once

#include "fleet/agent/options.h"

namespace fleet {

// Reads the token, asks the controllers that the token names to let this machine join, and writes
// the files that join_place.h names, such as the certificate from their answer. Returns one of the
// exit statuses in join_talk.h. After a failure, another call with the same options continues where
// this one stopped.
[[nodiscard]] int join_cell(const JoinOptions& options);

}  // namespace fleet
