// How fleet-agent, fleet-controller and fleet-signer, which SIGTERM stops, treat signals.
#pragma once

namespace fleet {

// Prepares this process's signals. Unblocks all signals, since the program that has started this
// process may have blocked some, such as SIGTERM, and a process inherits blocked signals. Ignores
// SIGPIPE and SIGXFSZ, by which the kernel would end this process: after this call, a write fails
// instead if the reader of the log has ended, or if a file would become larger than is allowed.
void prepare_signals();

}  // namespace fleet
