// The mark by which a process knows that it has been an agent. It is needed because open() removes
// the upgrader's variables from the environment: a second open(), or one after the process has
// executed itself again, would find no upgrader, and the agent would activate itself beside the
// active one.
#pragma once

namespace agent_protocol {

// Leaves the mark in memory, for this process and processes forked from it, and in the environment,
// for a program that this process executes in its own place; there it names this process only.
// Returns false, with errno, and leaves no mark, if the environment has no room.
[[nodiscard]] bool leave_mark();

// Returns true if this process has left the mark.
[[nodiscard]] bool has_mark();

}  // namespace agent_protocol
