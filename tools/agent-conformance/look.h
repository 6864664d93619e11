// Reads facts about an agent's processes from /proc: what they hold, and where they listen.
#pragma once

#include <sys/types.h>

#include <vector>

#include "tools/agent-conformance/facts.h"

namespace conformance {

// The inodes by which an agent's descriptors are recognised.
struct Marks {
  ino_t output = 0;  // of the pipe to which the agent writes its messages
  ino_t lock = 0;    // of the lock's file; 0 if there is none
};

[[nodiscard]] Facts look_at(int pid, const Marks& marks);

// Returns the processes of the agent's session that have not ended, which it has left. Returns none
// if its process group is empty.
[[nodiscard]] std::vector<int> session_of(int pid);

}  // namespace conformance
