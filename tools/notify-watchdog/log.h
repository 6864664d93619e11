// Writes lines to standard error without ever waiting: a log that nobody reads must not cause a
// reset of the machine.
#pragma once

#include <string>

namespace notify_watchdog {

// Writes "notify-watchdog: TEXT". If there is no room for the line, it is lost.
void log_line(const std::string& text);

}  // namespace notify_watchdog
