// Signal handling of fleet-agent, fleet-controller and fleet-signer.
#pragma once

namespace fleet {

// Unblocks all signals, since a parent may have blocked some, such as SIGTERM. Ignores SIGPIPE and
// SIGXFSZ, so that a write fails with an error instead of killing this process if the reader of the
// log has exited or a file is too large.
void prepare_signals();

}  // namespace fleet
