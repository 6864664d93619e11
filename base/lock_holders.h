// Finds the processes that hold a lock of flock(2), as far as /proc shows them. The lock belongs to
// an open file, so that every process that has inherited the descriptor holds it, too: agents, and
// processes that they have started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace upgrader {

// Returns the pids of all processes that hold a lock on the file that is open at `fd`, in the order
// of /proc, without those that wait for it. /proc shows only processes that we may trace.
[[nodiscard]] std::vector<pid_t> lock_holders(int fd);

// Returns "process 4711 (agent)", without the name if it is unknown. Fit for the log.
[[nodiscard]] std::string process_in_words(pid_t pid);

}  // namespace upgrader
