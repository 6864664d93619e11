// Starts one program as the daemon, or as a command: in a session of its own, with default signals,
// and with only the descriptors that are meant for it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/program.h"

namespace agentify {

struct ChildSetting {
  // The environment of the process, as entries NAME=value.
  std::vector<std::string> environment = {};
  // the index in `environment` of LISTEN_PID=, where the child writes its own pid
  std::optional<std::size_t> listen_pid = {};
  // The number of descriptors, from 3 on, that keep their numbers in the child.
  int passed = 0;
  int ready_descriptor = -1;  // the number of `ready_pipe` in the child, if there is one
  int ready_pipe = -1;
  int death_signal = 0;  // the signal that the child gets when its parent dies; 0 for none
};

struct StartedChild {
  pid_t pid = -1;  // the child; -1 if the program could not be started
  int error = 0;   // why the program could not be started, as an errno value
};

// Starts the program. Returns when the program runs, or cannot be started. All descriptors from 3
// on must be close-on-exec in this process. The child shares descriptors 0, 1 and 2.
[[nodiscard]] StartedChild start_child(const upgrader::Program& program,
                                       const ChildSetting& setting);

}  // namespace agentify
