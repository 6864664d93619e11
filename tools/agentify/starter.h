// Starts a program, as the daemon or as a command: in a session of its own, with the default
// actions for signals, and with only those descriptors that are meant for it.
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
  // the index of LISTEN_PID= in `environment`; the child writes its own pid there
  std::optional<std::size_t> listen_pid = {};
  // How many descriptors, from 3 on, the child inherits under the same numbers.
  int passed = 0;
  int ready_descriptor = -1;  // the number that `ready_pipe` gets in the child; -1 for none
  int ready_pipe = -1;
  int death_signal = 0;  // the signal for the child when its parent dies; 0 for none
};

struct StartedChild {
  pid_t pid = -1;  // the child's pid; -1 if the program could not be started
  int error = 0;   // if the program could not be started: the errno value
};

// Starts the program. Returns when the program is executed, or when that has failed. The child
// shares descriptors 0, 1 and 2. All others must be close-on-exec in this process.
[[nodiscard]] StartedChild start_child(const upgrader::Program& program,
                                       const ChildSetting& setting);

}  // namespace agentify
