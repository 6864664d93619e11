// The agents' environment, built once at start: the upgrader's own, without what serves the
// conversation with init, and with what the agent protocol adds. The same for every agent.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/environment.h"
#include "base/time.h"

namespace upgrader {

// How far apart init wants WATCHDOG=1: WATCHDOG_USEC, in whole milliseconds, at least one and at
// most a day. Zero if it wants none, or wants it from another process (WATCHDOG_PID). The complaint
// says that the variables are invalid.
struct WatchdogWish {
  Duration time{};
  std::string complaint;

  bool operator==(const WatchdogWish&) const = default;
};
[[nodiscard]] WatchdogWish watchdog_wish(const char* const* inherited, pid_t own_pid);

// Without sockets the LISTEN variables are left out. The other entries are those of
// `inherited`, byte for byte; `inherited` must outlive the processes started with them.
[[nodiscard]] Environment agent_environment(const char* const* inherited,
                                            std::optional<int> sockets,
                                            std::optional<int> lock_descriptor);

}  // namespace upgrader
