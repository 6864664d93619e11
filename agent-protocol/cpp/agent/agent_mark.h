// The mark by which a process recognises that it has been an agent. open() removes the upgrader's
// variables from the environment. So a second open(), perhaps after the process has executed itself
// again, would find no upgrader, and the agent would activate itself beside the active one.
#pragma once

namespace agent_protocol {

// Leaves the mark in two places. The mark in memory is for this process and for processes forked
// from it. The mark in the environment is for a program that this process executes in its own
// place; child processes ignore it. If the environment has no room, leaves no mark and returns
// false, with errno.
[[nodiscard]] bool leave_mark();

// Returns true if this process has left the mark.
[[nodiscard]] bool has_mark();

}  // namespace agent_protocol
