// Removes from the process everything that the upgrader has added to it: variables of the
// environment, the pipes as descriptors 0 and 1, the lock's descriptor.
#pragma once

#include <optional>

#include "agent-protocol/cpp/agent/agent_descriptor.h"

namespace agent_protocol {

struct Pipes {
  Descriptor input;
  Descriptor output;
};

// Returns true if an upgrader has started this process.
[[nodiscard]] bool upgrader_is_there();

// Makes private copies of descriptors 0 and 1. Then replaces 0 by /dev/null, and 1 by a copy of 2
// (of /dev/null if 2 is closed). If that fails, returns nullopt and sets errno, and nothing has
// changed.
[[nodiscard]] std::optional<Pipes> take_pipes();

// Puts the pipes back as descriptors 0 and 1.
void give_back(const Pipes& pipes);

// Makes the lock's descriptor, if there is one, close-on-exec, so that no program that this process
// starts holds the lock. The descriptor stays open until this process ends, so the process itself
// keeps the lock.
void keep_lock_private();

// Removes the upgrader's variables, so that programs started by this process do not believe that
// they are agents.
void clean_environment();

}  // namespace agent_protocol
