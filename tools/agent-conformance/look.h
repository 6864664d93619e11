// Reads facts about an agent's processes from /proc: which pipes and locks they have open, and at
// which addresses they listen.
#pragma once

#include <sys/types.h>

#include <vector>

#include "tools/agent-conformance/facts.h"

namespace conformance {

// The inodes by which an agent's descriptors are recognised.
struct Marks {
  ino_t output = 0;  // the inode of the pipe for the agent's messages
  ino_t lock = 0;    // the inode of the lock's file; 0 if there is no lock
};

[[nodiscard]] Facts look_at(int pid, const Marks& marks);

// Returns the processes that an agent has left behind: those of its session that have not ended.
// Returns none if the agent's process group is empty.
[[nodiscard]] std::vector<int> session_of(int pid);

}  // namespace conformance
