// Parses the messages that a daemon writes to its NOTIFY_SOCKET, as sd_notify(3) defines them.
// loop.h decides which processes may write there.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "tools/agentify/duration.h"

namespace agentify {

struct NotifyMessage {
  bool ready = false;                      // READY=1 was in the message
  bool alive = false;                      // WATCHDOG=1 was in the message
  bool failed = false;                     // WATCHDOG=trigger was in the message
  std::optional<std::string> status = {};  // the text of STATUS=, cut to the size of a `status`
  std::optional<Duration> extend = {};     // the time of EXTEND_TIMEOUT_USEC=
  std::optional<pid_t> main_process = {};  // the pid of MAINPID=

  bool operator==(const NotifyMessage&) const = default;
};

// The most bytes of a datagram. A longer one is cut; its last line, which is then incomplete, is
// ignored.
inline constexpr std::size_t notify_bytes_max = 8192;
// The longest version that a `hello` can have.
inline constexpr std::size_t version_bytes_max = 128;

// Parses a message. Unknown lines are ignored; if two lines set the same value, the last one
// counts.
[[nodiscard]] NotifyMessage parse_notify_message(std::string_view text);

// Returns the text in the form of a `status`: UTF-8 of at most 256 bytes. Each byte that is not
// UTF-8 becomes '?', and a longer text is cut between two characters.
[[nodiscard]] std::string fit_for_status(std::string_view text);
// The next two functions return the text cut and cleaned for a version, of at most 128 bytes, and
// for a `reason`, of at most 1,024 bytes.
[[nodiscard]] std::string fit_for_version(std::string_view text);
[[nodiscard]] std::string fit_for_reason(std::string_view text);

}  // namespace agentify
