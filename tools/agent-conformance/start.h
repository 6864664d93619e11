// Prepares the start of an agent: its command, its environment, and strace.
#pragma once

#include <string>
#include <vector>

namespace conformance {

// Replaces a program name without a slash by the path that PATH gives for it. Returns why the agent
// cannot be started, or an empty text.
[[nodiscard]] std::string resolve(std::vector<std::string>& command);

// Returns the environment of an agent: that of this program, without the variables by which init or
// an upgrader talks to this program. Adds the variables by which the agent talks to its upgrader,
// unless `alone` is true. `lock` is the number of the lock's descriptor, or -1.
[[nodiscard]] std::vector<std::string> environment(bool alone, int lock);

// Returns pointers to the texts, followed by a null pointer, as execve(2) needs them.
[[nodiscard]] std::vector<char*> pointers(std::vector<std::string>& texts);

// Returns the command that runs the agent under strace. strace writes its output to `fifo`, and is
// neither a parent nor a child of the agent.
[[nodiscard]] std::vector<std::string> traced(const std::vector<std::string>& command,
                                              const std::string& fifo);

// Makes a FIFO in a new temporary directory. Both are removed when the program ends. Returns the
// path, or an empty text on failure.
[[nodiscard]] std::string make_fifo();

// Returns true if strace exists and is allowed to trace.
[[nodiscard]] bool strace_works();

}  // namespace conformance
