#include "tools/notify-watchdog/notification.h"

#include <algorithm>
#include <cstdint>

#include "base/duration.h"
#include "base/number.h"

namespace notify_watchdog {
namespace {

std::optional<Duration> time_in(std::string_view microseconds) {
  const std::optional<std::int64_t> number = upgrader::take_number(microseconds);
  if (!number || *number == 0 || !microseconds.empty()) return std::nullopt;
  const std::int64_t most = upgrader::duration_max.count() * 1000;
  if (*number == upgrader::too_large || *number > most) return upgrader::duration_max;
  return Duration{(*number + 999) / 1000};
}

void take_line(std::string_view line, Notification& notification) {
  constexpr std::string_view extend = "EXTEND_TIMEOUT_USEC=";
  if (line == "READY=1") notification.ready = true;
  if (line == "STOPPING=1") notification.stopping = true;
  if (line == "WATCHDOG=1") notification.alive = true;
  if (line == "WATCHDOG=trigger") notification.failed = true;
  if (line.starts_with(extend)) notification.extend = time_in(line.substr(extend.size()));
}

}  // namespace

Notification parse_notification(std::string_view text) {
  Notification notification;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take_line(text.substr(0, end), notification);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return notification;
}

}  // namespace notify_watchdog
