// All that the upgrader has passed to agentify: the daemon's program, the lock, init's sockets, the
// environment. Read once, before the conversation begins and removes the variables.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/program.h"
#include "tools/agentify/daemon_lock.h"
#include "tools/agentify/options.h"
#include "tools/agentify/starter.h"

namespace agentify {

struct Surroundings {
  bool alone = true;        // there is no upgrader
  int passed = 0;           // sockets, and the lock behind them
  std::optional<int> lock;  // the number of the lock's descriptor
  ChildSetting daemon;      // environment and descriptors of the daemon
  ChildSetting check;       // the same of the check: init's sockets, and not the lock
  std::vector<std::string> command_environment;  // of all other commands
};

// Marks every descriptor from 3 on close-on-exec. `ready_descriptor`, which the daemon is to have,
// is kept free; a string says why that cannot be.
[[nodiscard]] std::variant<Surroundings, std::string> look_around(
    std::optional<int> ready_descriptor);

// The program that `options` name: the one that the upgrader has passed, or, where there is none,
// what the name leads to.
[[nodiscard]] agent_protocol::Result<upgrader::Program> find_daemon(const Options& options);

// The lock of the daemon. A string says why there is none where there has to be one.
[[nodiscard]] std::variant<DaemonLock, std::string> find_lock(const Surroundings& surroundings);

// A setting for `/bin/sh -c COMMAND` with the daemon's own name and arguments as $0, $1, ...
[[nodiscard]] upgrader::Program shell_program(const std::string& command, const Options& options);

}  // namespace agentify
