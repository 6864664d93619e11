// Judges one line of an agent by itself, without the lines before it. Finds out whether the line is
// a message, and whether the message obeys the rules for its type. script.h decides whether the
// agent may send a message of this type now.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/agent-conformance/seen.h"

namespace conformance {

// The limits that agent-protocol(7) sets for the messages of an agent.
inline constexpr std::size_t line_bytes_max = 65'536;  // the longest line, including its newline
inline constexpr std::size_t state_bytes_max = 32'768;
inline constexpr std::size_t state_escaped_bytes_max = 65'000;

struct Said {
  enum class Kind : std::uint8_t { message, malformed, unknown, stray };
  Kind kind = Kind::stray;
  std::string type;  // the type of the message; empty if the line is stray output
  std::string why;   // why the line is not a valid message; empty if it is valid
  std::optional<std::string> id, state, version, reason;
  std::int64_t ms = 0;     // for `extend`: the requested time
  bool readiness = false;  // for `hello`: the agent lists the feature `readiness`
};

[[nodiscard]] Said judge(const Line& line);

}  // namespace conformance
