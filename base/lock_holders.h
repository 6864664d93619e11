// Which processes hold a lock of flock(2), as far as /proc tells. It belongs to an open file, so
// that whoever has inherited that holds it, too: agents, and what they have started.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace upgrader {

// All that hold a lock of the file that is open at `fd`, by pid as /proc lists them; not those that
// wait for it. Nothing where /proc does not tell, which it does of processes that we might trace.
[[nodiscard]] std::vector<pid_t> lock_holders(int fd);

// "process 4711 (agent)", without the name where it is not known. Fit for the log.
[[nodiscard]] std::string process_in_words(pid_t pid);

}  // namespace upgrader
