// Writes agentify's log, one line for each event, and the output of the check. Both go to standard
// error, to which the daemon writes, too. Never waits: bytes that cannot be written at once are
// lost.
#pragma once

#include <string_view>

namespace agentify {

void log_line(std::string_view text);

// Writes the bytes unchanged.
void show(std::string_view bytes);

// Ignores the signals that come when the log cannot be written, so that they do not end agentify.
// They come if the log is a pipe without a reader, a file at its size limit, or a terminal of
// another session. Must be called first. The daemon is started with the default actions again.
void survive_a_broken_log();

}  // namespace agentify
