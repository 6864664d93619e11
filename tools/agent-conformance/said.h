// Judges one line of an agent by itself: is it a message, and does it keep the rules of its type?
// Whether it may be said now is for Life.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/agent-conformance/seen.h"

namespace conformance {

// The limits of agent-protocol(7), as far as an agent's own words have to keep them.
inline constexpr std::size_t line_bytes_max = 65'536;  // with the newline
inline constexpr std::size_t state_bytes_max = 32'768;
inline constexpr std::size_t state_escaped_bytes_max = 65'000;

struct Said {
  enum class Kind : std::uint8_t { message, malformed, unknown, stray };
  Kind kind = Kind::stray;
  std::string type;  // empty for stray output
  std::string why;   // what is wrong with it, if it is no message
  std::optional<std::string> id, state, version, reason;
  std::int64_t ms = 0;     // of extend
  bool readiness = false;  // of hello: it has that feature
};

[[nodiscard]] Said judge(const Line& line);

}  // namespace conformance
