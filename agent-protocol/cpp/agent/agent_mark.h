// The mark by which a process recognises that it has been an agent. agent_protocol_open() removes
// the upgrader's variables from the environment. So a second call, perhaps after the process has
// executed its program again, would find no upgrader, and the agent would activate itself beside
// the active one.
#pragma once

namespace agent_protocol {

// Leaves the mark in memory and in the environment. The mark in memory is for this process and for
// processes forked from it. The mark in the environment is for a program that this process executes
// in its own place; child processes ignore it. If the environment has no room, leaves no mark,
// returns false and sets errno.
[[nodiscard]] bool leave_mark();

// Returns true if leave_mark() has been called in this process, before or after an exec.
[[nodiscard]] bool has_mark();

}  // namespace agent_protocol
