// The event loop of notify-watchdog. It turns what comes from descriptors and the clock into events
// for the guard (guard.h), and the guard's actions into calls.
#pragma once

#include "tools/notify-watchdog/options.h"

namespace notify_watchdog {

inline constexpr int exit_failed = 125;
inline constexpr int exit_not_executable = 126;
inline constexpr int exit_not_found = 127;

// Runs the program under the watchdog until the program has ended. Returns the exit status for
// notify-watchdog.
[[nodiscard]] int watch(const Options& options);

}  // namespace notify_watchdog
