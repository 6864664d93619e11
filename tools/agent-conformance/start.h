// Prepares the start of an agent: its command, its environment, and strace.
#pragma once

#include <string>
#include <vector>

namespace conformance {

// Returns why the agent cannot be started, or an empty text. Replaces a name without a slash by its
// path in PATH.
[[nodiscard]] std::string resolve(std::vector<std::string>& command);

// Returns the environment of an agent: the environment of this program, without the variables by
// which init or an upgrader speaks with this program, and with those for the conversation with the
// agent. `alone` leaves the latter out. `lock` is the number of the lock's descriptor, or -1.
[[nodiscard]] std::vector<std::string> environment(bool alone, int lock);

// Returns pointers to the texts, and a null pointer at the end, as exec needs them.
[[nodiscard]] std::vector<char*> pointers(std::vector<std::string>& texts);

// Returns the command that runs the agent under strace. strace writes to `fifo`, and is neither
// parent nor child of the agent.
[[nodiscard]] std::vector<std::string> traced(const std::vector<std::string>& command,
                                              const std::string& fifo);

// Makes a FIFO in a directory of its own, which is removed when the program ends. Returns an empty
// text on failure.
[[nodiscard]] std::string make_fifo();

// Returns true if strace exists and is allowed to trace.
[[nodiscard]] bool strace_works();

}  // namespace conformance
