// The agents' environment, built once at start: the upgrader's own, without what serves the
// conversation with init, and with what the agent protocol adds. The same for every agent.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace upgrader {

// How many sockets init has passed to us (LISTEN_FDS), from first_passed_descriptor on. Nothing if
// the variables are absent, meant for another process (LISTEN_PID), unreadable, or name a
// descriptor that is not open.
[[nodiscard]] std::optional<int> passed_sockets(const char* const* inherited, pid_t own_pid);

// How far apart init wants WATCHDOG=1: WATCHDOG_USEC, in whole milliseconds, at least one and at
// most a day. Zero if it wants none, or wants it from another process (WATCHDOG_PID). The complaint
// says that the variables are invalid.
struct WatchdogWish {
  Duration time{};
  std::string complaint;

  bool operator==(const WatchdogWish&) const = default;
};
[[nodiscard]] WatchdogWish watchdog_wish(const char* const* inherited, pid_t own_pid);

// Owns no text: to copy them all made the first agent's start a twentieth longer (make size).
struct Environment {
  std::vector<const char*> entries;         // NAME=value, in order
  std::optional<std::size_t> listen_pid{};  // the entry that is replaced by the child's own pid
  std::optional<int> lock_descriptor{};     // the child is told it by one more entry at the end
};

// Without sockets the LISTEN variables are left out. The other entries are those of
// `inherited`, byte for byte; `inherited` must outlive the processes started with them.
[[nodiscard]] Environment agent_environment(const char* const* inherited,
                                            std::optional<int> sockets,
                                            std::optional<int> lock_descriptor);

}  // namespace upgrader
