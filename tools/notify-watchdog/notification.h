// The lines of a notification (sd_notify(3)) that notify-watchdog understands: bytes into facts.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/time.h"

namespace notify_watchdog {

using upgrader::Duration;

// A longer notification is refused as a whole. systemd takes 4,096 bytes.
inline constexpr std::size_t notification_bytes_max = 8192;

struct Notification {
  bool ready = false;                // READY=1
  bool stopping = false;             // STOPPING=1
  bool alive = false;                // WATCHDOG=1
  bool failed = false;               // WATCHDOG=trigger
  std::optional<Duration> extend{};  // EXTEND_TIMEOUT_USEC=, rounded up, at most a day

  bool operator==(const Notification&) const = default;
};

// Lines with another meaning, and lines that are malformed, are passed over.
[[nodiscard]] Notification parse_notification(std::string_view text);

}  // namespace notify_watchdog
