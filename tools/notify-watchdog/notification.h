// Parses those lines of a notification (sd_notify(3)) that notify-watchdog needs.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace notify_watchdog {

using upgrader::Duration;

// The most bytes of a notification. A longer one is ignored. systemd itself accepts 4,096 bytes.
inline constexpr std::size_t notification_bytes_max = 8192;

struct Notification {
  bool ready = false;                // READY=1 was in the notification
  bool stopping = false;             // STOPPING=1 was in the notification
  bool alive = false;                // WATCHDOG=1 was in the notification
  bool failed = false;               // WATCHDOG=trigger was in the notification
  std::optional<Duration> extend{};  // the time in EXTEND_TIMEOUT_USEC=, rounded up, a day at most

  bool operator==(const Notification&) const = default;
};

// Parses a notification. Ignores unknown and malformed lines.
[[nodiscard]] Notification parse_notification(std::string_view text);

}  // namespace notify_watchdog
