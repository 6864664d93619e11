// Writes agentify's log, one line for each event, and the output of the command of --check. Both go
// to standard error, which agentify shares with the daemon. Never blocks. Bytes for which the log
// has no room are dropped.
#pragma once

#include <string_view>

namespace agentify {

// Writes one line. The text may contain output of the daemon, so characters that would command a
// terminal are escaped.
void log_line(std::string_view text);

// Writes the bytes unchanged.
void show(std::string_view bytes);

// Ignores the signals by which the kernel would kill or stop agentify when the log cannot be
// written. This happens if the log is a pipe without a reader, a file at its size limit, or a
// terminal to which a background process may not write. Must be called before anything is written.
// The daemon is started with the default actions for these signals.
void survive_a_broken_log();

}  // namespace agentify
