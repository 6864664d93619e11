// The agents' environment, built once at start and the same for every agent: the upgrader's own,
// without the variables of its conversation with init, and with the variables of the agent
// protocol.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/environment.h"
#include "base/time.h"

namespace upgrader {

// How often init wants WATCHDOG=1. `time` is WATCHDOG_USEC in whole milliseconds, at least one and
// at most a day; zero if init wants none, or wants it from another process (WATCHDOG_PID).
// `complaint` is not empty if the variables are invalid.
struct WatchdogWish {
  Duration time{};
  std::string complaint;

  bool operator==(const WatchdogWish&) const = default;
};
[[nodiscard]] WatchdogWish watchdog_wish(const char* const* inherited, pid_t own_pid);

// Makes the environment. Without `sockets` the LISTEN variables are left out. The other entries are
// those of `inherited`, byte for byte; `inherited` must outlive the processes started with them.
[[nodiscard]] Environment agent_environment(const char* const* inherited,
                                            std::optional<int> sockets,
                                            std::optional<int> lock_descriptor);

}  // namespace upgrader
