// Looks at an agent's processes by /proc: what they hold, and where they listen.
#pragma once

#include <sys/types.h>

#include <vector>

#include "tools/agent-conformance/facts.h"

namespace conformance {

// The marks by which an agent's processes are found.
struct Marks {
  ino_t output = 0;  // the pipe on which the agent speaks
  ino_t lock = 0;    // the file of the lock; 0: there is none
};

[[nodiscard]] Facts look_at(int pid, const Marks& marks);

// Processes of the agent's session that have not ended: what it has left. None, where its process
// group is empty.
[[nodiscard]] std::vector<int> session_of(int pid);

}  // namespace conformance
