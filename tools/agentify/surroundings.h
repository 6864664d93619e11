// Everything that the upgrader passes to agentify: the daemon's program, the lock, init's sockets
// and the environment. agentify reads all this once, before it calls libagent-protocol to talk to
// the upgrader, because libagent-protocol removes the upgrader's environment variables.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/program.h"
#include "tools/agentify/daemon_lock.h"
#include "tools/agentify/keeper.h"
#include "tools/agentify/options.h"

namespace agentify {

struct Surroundings {
  bool alone = true;  // agentify was started without an upgrader
  // The number of descriptors that agentify inherited, from descriptor 3 upwards: init's sockets
  // and the upgrader's lock.
  int passed = 0;
  std::optional<int> lock;                       // the descriptor of the upgrader's lock
  ChildSetting daemon;                           // for the daemon
  ChildSetting check;                            // for the command of the option --check
  std::vector<std::string> command_environment;  // for the commands of all other options
};

// Reads the variables and descriptors that the upgrader has passed, and marks every descriptor from
// 3 on close-on-exec. Occupies the descriptor number `ready_descriptor`, so that the daemon can get
// this number for --ready=fd:N. On failure returns the reason in words.
[[nodiscard]] std::variant<Surroundings, std::string> look_around(
    std::optional<int> ready_descriptor);

// Finds the daemon's program: the program that the upgrader has passed or, without an upgrader, the
// program that the name in `options` leads to.
[[nodiscard]] agent_protocol::Result<upgrader::Program> find_daemon(const Options& options);

// Finds the daemon's lock. Returns the reason, in words, if a lock is needed but cannot be made.
[[nodiscard]] std::variant<DaemonLock, std::string> find_lock(const Surroundings& surroundings);

// Returns the program `/bin/sh -c COMMAND`. COMMAND gets the daemon's name and arguments as $0, $1
// and so on.
[[nodiscard]] upgrader::Program shell_program(const std::string& command, const Options& options);

}  // namespace agentify
