// One line on standard error, which never waits: a log that nobody reads must not reset the
// machine.
#pragma once

#include <string>

namespace notify_watchdog {

// "notify-watchdog: TEXT". A line for which there is no room is lost.
void log_line(const std::string& text);

}  // namespace notify_watchdog
