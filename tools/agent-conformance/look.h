// Reads facts about an agent's processes from /proc: which pipes and locks they have open, and at
// which addresses they listen.
#pragma once

#include <sys/types.h>

#include <vector>

#include "tools/agent-conformance/seen.h"

namespace conformance {

// The inodes by which the pipe and the lock of an agent are recognised among open descriptors.
struct Marks {
  ino_t output = 0;  // the inode of the agent's output pipe
  ino_t lock = 0;    // the inode of the lock's file; 0 if there is no lock
};

[[nodiscard]] Facts look_at(int pid, const Marks& marks);

// Returns the processes that an agent has left behind: the living processes of its session. Returns
// an empty list if the agent's process group is empty.
[[nodiscard]] std::vector<int> session_of(int pid);

}  // namespace conformance
