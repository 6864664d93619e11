// Starts and reaps the program that is watched.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/notify-watchdog/guard.h"

namespace notify_watchdog {

// The variables that the child gets instead of those by which init speaks with notify-watchdog.
struct ChildSetting {
  std::string notify_socket;
  Duration watchdog{};
  sigset_t mask{};  // the signals that init had blocked
};

// Why the child could not be started: the errno value of the exec or the fork. A started child gets
// SIGTERM if notify-watchdog dies.
struct StartFailed {
  int error = 0;
};
[[nodiscard]] std::variant<pid_t, StartFailed> start_child(const std::vector<std::string>& command,
                                                           const ChildSetting& setting);

// Reaps all processes that have ended, also orphans if this is process 1. Returns how `child`
// ended, or nothing.
[[nodiscard]] std::optional<ChildEnded> reap(pid_t child);

// Returns how often init itself requires WATCHDOG=1, or nothing.
[[nodiscard]] std::optional<Duration> watchdog_of_init();

}  // namespace notify_watchdog
