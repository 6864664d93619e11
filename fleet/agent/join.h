// fleet-agent join: makes this machine a node of a cell.
#pragma once

#include "fleet/agent/options.h"

namespace fleet {

// Reads the token, and asks the controllers that the token names to let this machine join. When a
// controller has sent a certificate, writes the certificate and the other files that join_place.h
// names. Returns one of the exit statuses in join_talk.h. After a failure, another call with the
// same options continues where this one stopped.
[[nodiscard]] int join_cell(const JoinOptions& options);

}  // namespace fleet
