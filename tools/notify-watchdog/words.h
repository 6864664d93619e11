// Prints times for the log.
#pragma once

#include <string>

#include "base/form.h"
#include "base/time.h"

namespace notify_watchdog {

using agent_protocol::operator""_with;

// Returns a duration as text, such as "60s" or "1500ms".
[[nodiscard]] inline std::string in_words(upgrader::Duration time) {
  const bool whole = time.count() % 1000 == 0;
  return whole ? "{}s"_with(time.count() / 1000) : "{}ms"_with(time.count());
}

}  // namespace notify_watchdog
