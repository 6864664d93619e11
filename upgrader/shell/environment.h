// The environment of the agents, which is built once at the start and is the same for every agent.
// It is the upgrader's own environment, without the variables by which init and the upgrader
// communicate, and with the variables of the agent protocol.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/environment.h"
#include "base/result.h"
#include "base/time.h"

namespace upgrader {

// Returns the longest time between two WATCHDOG=1 that init allows: WATCHDOG_USEC in whole
// milliseconds, at least one and at most a day. Returns zero if init wants no WATCHDOG=1, or wants
// it from another process (WATCHDOG_PID). If a variable is invalid, returns a refusal that names
// the variable and says that the upgrader ignores it.
[[nodiscard]] Result<Duration> watchdog_wish(pid_t own_pid);

// Makes the environment. Without `sockets` the LISTEN variables are left out. The environment
// points to the strings of `inherited`, so `inherited` must exist as long as processes are started
// with this environment.
[[nodiscard]] Environment agent_environment(const char* const* inherited,
                                            std::optional<int> sockets,
                                            std::optional<int> lock_descriptor);

}  // namespace upgrader
