// Writes lines to standard error, and never blocks. Otherwise a log that nobody reads could block
// notify-watchdog, and the watchdog device would reset the machine.
#pragma once

#include <string>

namespace notify_watchdog {

// Writes "notify-watchdog: TEXT". If the log has no room for the line, the line is dropped.
void log_line(const std::string& text);

}  // namespace notify_watchdog
