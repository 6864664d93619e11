// Parses the messages that a daemon sends to its NOTIFY_SOCKET, as defined by sd_notify(3). loop.h
// decides which processes may send messages.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "tools/agentify/duration.h"

namespace agentify {

struct NotifyMessage {
  bool ready = false;   // READY=1 was in the message
  bool alive = false;   // WATCHDOG=1 was in the message
  bool failed = false;  // WATCHDOG=trigger was in the message
  // the text of STATUS=, shortened to the longest text that the message `status` can have
  std::optional<std::string> status = {};
  std::optional<Duration> extend = {};     // the time of EXTEND_TIMEOUT_USEC=
  std::optional<pid_t> main_process = {};  // the pid of MAINPID=

  bool operator==(const NotifyMessage&) const = default;
};

// The most bytes of a datagram. The rest of a longer datagram is dropped, and its last line, which
// is incomplete, is ignored.
inline constexpr std::size_t notify_bytes_max = 8192;
// The longest version that a `hello` can have.
inline constexpr std::size_t version_bytes_max = 128;

// Parses a message. Ignores unknown lines. If several lines set the same value, the last one
// counts.
[[nodiscard]] NotifyMessage parse_notify_message(std::string_view text);

// Returns the text in a form that fits into the message `status`: at most 256 bytes of UTF-8. Each
// byte that is not valid UTF-8 becomes '?'. A longer text is shortened between two characters.
[[nodiscard]] std::string fit_for_status(std::string_view text);
// Returns a version in a form that fits into `hello`: at most 128 bytes of UTF-8. Replaces invalid
// bytes by '?' and shortens the text, as fit_for_status() does.
[[nodiscard]] std::string fit_for_version(std::string_view text);
// Returns a `reason` in a form that fits into a message: at most 1,024 bytes of UTF-8. Replaces
// invalid bytes by '?' and shortens the text, as fit_for_status() does.
[[nodiscard]] std::string fit_for_reason(std::string_view text);

}  // namespace agentify
