// Standard error, which the daemon writes to as well: agentify's own log, one line an event, and
// what the check prints. Never waits: what cannot be written at once is lost.
#pragma once

#include <string_view>

namespace agentify {

void log_line(std::string_view text);

// As it is.
void show(std::string_view bytes);

// A log that cannot be written, be it a pipe without a reader, a file at its limit or a terminal
// that is another's, must not be our end. Called first of all; the daemon gets the defaults back.
void survive_a_broken_log();

}  // namespace agentify
