// Parses the lines of a notification (sd_notify(3)) that notify-watchdog needs.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace notify_watchdog {

using upgrader::Duration;

// The most bytes of a notification; a longer one is ignored as a whole. systemd takes 4,096 bytes.
inline constexpr std::size_t notification_bytes_max = 8192;

struct Notification {
  bool ready = false;                // READY=1 was in the notification
  bool stopping = false;             // STOPPING=1 was in the notification
  bool alive = false;                // WATCHDOG=1 was in the notification
  bool failed = false;               // WATCHDOG=trigger was in the notification
  std::optional<Duration> extend{};  // the time of EXTEND_TIMEOUT_USEC=, rounded up, at most a day

  bool operator==(const Notification&) const = default;
};

// Parses a notification. Unknown lines and malformed lines are ignored.
[[nodiscard]] Notification parse_notification(std::string_view text);

}  // namespace notify_watchdog
