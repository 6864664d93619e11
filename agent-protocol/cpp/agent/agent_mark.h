// By which a process knows that it has been an agent: open() takes the upgrader's variables out of
// the environment, so a second one, or one after the process has executed itself anew, would find
// no upgrader, and the agent would activate itself beside the one that is active.
#pragma once

namespace agent_protocol {

// Leaves the mark: in memory, for this process and those that are forked from it; and in the
// environment, where it names this process only, for a program that it executes in its place.
// False, with errno, where the environment does not take it; then there is no mark.
[[nodiscard]] bool leave_mark();

// True if this process has left the mark.
[[nodiscard]] bool has_mark();

}  // namespace agent_protocol
