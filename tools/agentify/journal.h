// Writes to standard error, to which the daemon writes, too: agentify's own log, one line for each
// event, and the output of the check. Never waits: bytes that cannot be written at once are lost.
#pragma once

#include <string_view>

namespace agentify {

void log_line(std::string_view text);

// Writes the bytes unchanged.
void show(std::string_view bytes);

// Ignores the signals that come if the log cannot be written (its pipe has no reader, its file has
// reached a limit, its terminal belongs to another session), so that none of them ends agentify.
// Must be called first; the daemon gets the defaults back.
void survive_a_broken_log();

}  // namespace agentify
