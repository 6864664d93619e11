// The start of an agent: the command, its environment, strace before it.
#pragma once

#include <string>
#include <vector>

namespace conformance {

// Why the agent cannot be started, or nothing. Finds a name without a slash in PATH, and puts the
// path in its place.
[[nodiscard]] std::string resolve(std::vector<std::string>& command);

// The environment of an agent: as ours, but for what the conversations with init and the upgrader
// need. `lock` is the number of the lock's descriptor, or -1.
[[nodiscard]] std::vector<std::string> environment(bool alone, int lock);

// Pointers to the texts, and a null one at the end, as exec wants them.
[[nodiscard]] std::vector<char*> pointers(std::vector<std::string>& texts);

// The command under strace, which writes to `fifo` and stands apart from the agent.
[[nodiscard]] std::vector<std::string> traced(const std::vector<std::string>& command,
                                              const std::string& fifo);

// A FIFO in a directory of its own, which is removed when the program ends; empty on failure.
[[nodiscard]] std::string make_fifo();

// Whether there is a strace that may trace.
[[nodiscard]] bool strace_works();

}  // namespace conformance
