// The agents' environment, built once at start and the same for every agent: the upgrader's own,
// without the variables of its conversation with init, and with the variables of the agent
// protocol.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/environment.h"
#include "base/result.h"
#include "base/time.h"

namespace upgrader {

// Returns how often init wants WATCHDOG=1: WATCHDOG_USEC in whole milliseconds, at least one and at
// most a day; zero if init wants none, or wants it from another process (WATCHDOG_PID). A refusal
// says which variable is invalid, and that it is ignored.
[[nodiscard]] Result<Duration> watchdog_wish(pid_t own_pid);

// Makes the environment. Without `sockets` the LISTEN variables are left out. All other entries are
// the texts of `inherited`, unchanged and not copied, so `inherited` must exist as long as
// processes are started with this environment.
[[nodiscard]] Environment agent_environment(const char* const* inherited,
                                            std::optional<int> sockets,
                                            std::optional<int> lock_descriptor);

}  // namespace upgrader
