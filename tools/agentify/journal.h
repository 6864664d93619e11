// Writes to standard error, to which the daemon writes, too: agentify's log, one line for each
// event, and the output of the check. Never waits. Bytes that cannot be written at once are lost.
#pragma once

#include <string_view>

namespace agentify {

void log_line(std::string_view text);

// Writes the bytes unchanged.
void show(std::string_view bytes);

// Ignores the signals that would end agentify when the log cannot be written: when the log is a
// pipe without a reader, a file at its size limit, or a terminal of another session. Must be called
// first. The daemon is started with the default actions for these signals.
void survive_a_broken_log();

}  // namespace agentify
