// The program that is watched: starts it and reaps it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/notify-watchdog/guard.h"

namespace notify_watchdog {

// The child gets these instead of the variables by which init speaks with notify-watchdog.
struct ChildSetting {
  std::string notify_socket;
  Duration watchdog{};
  sigset_t mask{};  // the signals that init has blocked
};

// The child's process id, or the errno value of the exec or the fork. The child is sent SIGTERM if
// notify-watchdog dies.
struct StartFailed {
  int error = 0;
};
[[nodiscard]] std::variant<pid_t, StartFailed> start_child(const std::vector<std::string>& command,
                                                           const ChildSetting& setting);

// Reaps all processes that have ended: orphans, too, if this is process 1. Returns how `child`
// ended, or nothing.
[[nodiscard]] std::optional<ChildEnded> reap(pid_t child);

// How often init itself wants to hear WATCHDOG=1, or nothing.
[[nodiscard]] std::optional<Duration> watchdog_of_init();

}  // namespace notify_watchdog
