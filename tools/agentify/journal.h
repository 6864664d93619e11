// Standard error, which the daemon writes to as well: agentify's own log, one line an event, and
// what the check prints. Never waits: what cannot be written at once is lost.
#pragma once

#include <string_view>

namespace agentify {

void log_line(std::string_view text);

// As it is.
void show(std::string_view bytes);

// Ignores the signals of a log that cannot be written (a pipe without a reader, a file at its
// limit, another's terminal), so that none of them ends agentify. To be called first of all; the
// daemon gets the defaults back.
void survive_a_broken_log();

}  // namespace agentify
