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

// The surroundings of the child: the variables that it finds instead of those that init has set for
// notify-watchdog, and its signal mask.
struct ChildSetting {
  std::string notify_socket;
  Duration watchdog{};
  sigset_t mask{};  // the signals that init had blocked for notify-watchdog
};

// Starts the child. If notify-watchdog dies, the kernel sends the child SIGTERM. If the child
// cannot be started, returns the errno value of the fork or the exec.
struct StartFailed {
  int error = 0;
};
[[nodiscard]] std::variant<pid_t, StartFailed> start_child(const std::vector<std::string>& command,
                                                           const ChildSetting& setting);

// Reaps all children that have ended. If this is process 1, orphans are among them. Returns how
// `child` ended, or nothing if it still runs.
[[nodiscard]] std::optional<ChildEnded> reap(pid_t child);

// Returns the interval at which init requires WATCHDOG=1 of notify-watchdog itself, or nothing.
[[nodiscard]] std::optional<Duration> watchdog_of_init();

}  // namespace notify_watchdog
