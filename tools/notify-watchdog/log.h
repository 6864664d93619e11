// Writes lines to standard error, and never waits. Otherwise a log that nobody reads could cause a
// reset of the machine.
#pragma once

#include <string>

namespace notify_watchdog {

// Writes "notify-watchdog: TEXT". If the log has no room for the line, the line is lost.
void log_line(const std::string& text);

}  // namespace notify_watchdog
