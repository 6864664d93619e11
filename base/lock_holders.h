// Which processes hold a lock of flock(2), as far as /proc tells. It belongs to an open file, so
// that whoever has inherited that holds it, too: agents, and what they have started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace upgrader {

// The pids of all processes that hold a lock of the file that is open at `fd`, in the order of
// /proc; not those that wait for it. /proc shows only processes that we are allowed to trace.
[[nodiscard]] std::vector<pid_t> lock_holders(int fd);

// "process 4711 (agent)", without the name where it is not known. Fit for the log.
[[nodiscard]] std::string process_in_words(pid_t pid);

}  // namespace upgrader
