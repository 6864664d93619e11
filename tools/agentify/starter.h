// Starts one program as the daemon, or as a command: in a session of its own, with clean signals,
// and with the descriptors that are meant for it and no other.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/program.h"

namespace agentify {

struct ChildSetting {
  std::vector<std::string> environment = {};   // NAME=value
  std::optional<std::size_t> listen_pid = {};  // the entry in which the child puts its own pid
  int passed = 0;                              // 3 to 2 + passed go to it at these numbers
  int ready_descriptor = -1;                   // where `ready_pipe` is put, if there is one
  int ready_pipe = -1;
  int death_signal = 0;  // for when its parent dies; 0: none
};

struct StartedChild {
  pid_t pid = -1;  // -1: it has been refused
  int error = 0;   // why, as an errno value
};

// Returns when the program runs or has been refused. All descriptors from 3 on must be
// close-on-exec here. Descriptors 0, 1 and 2 are the child's, too.
[[nodiscard]] StartedChild start_child(const upgrader::Program& program,
                                       const ChildSetting& setting);

}  // namespace agentify
