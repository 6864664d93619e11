// Everything that the upgrader has passed to agentify: the daemon's program, the lock, init's
// sockets, the environment. It is read once, before the conversation with the upgrader begins and
// removes the variables.
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
  bool alone = true;        // agentify was started without an upgrader
  int passed = 0;           // the number of descriptors from 3 on: init's sockets and the lock
  std::optional<int> lock;  // the number of the lock's descriptor
  ChildSetting daemon;      // environment and descriptors of the daemon
  ChildSetting check;       // environment and descriptors of the check
  std::vector<std::string> command_environment;  // environment of all other commands
};

// Marks every descriptor from 3 on close-on-exec. Occupies the number `ready_descriptor`, which the
// daemon will get, and returns the fault in words if that is impossible.
[[nodiscard]] std::variant<Surroundings, std::string> look_around(
    std::optional<int> ready_descriptor);

// Finds the program of the daemon: the one that the upgrader has passed, or else the one to which
// the name in `options` leads.
[[nodiscard]] agent_protocol::Result<upgrader::Program> find_daemon(const Options& options);

// Finds the daemon's lock. Returns the fault in words if a lock is needed and cannot be had.
[[nodiscard]] std::variant<DaemonLock, std::string> find_lock(const Surroundings& surroundings);

// Returns a program `/bin/sh -c COMMAND` with the daemon's own name and arguments as $0, $1, ...
[[nodiscard]] upgrader::Program shell_program(const std::string& command, const Options& options);

}  // namespace agentify
