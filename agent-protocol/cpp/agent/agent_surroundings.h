// Takes away from the program everything that the upgrader has put into the process: variables of
// the environment, the pipes as descriptors 0 and 1, the lock's descriptor.
#pragma once

#include <optional>

#include "agent-protocol/cpp/agent/agent_descriptor.h"

namespace agent_protocol {

struct Pipes {
  Descriptor input;
  Descriptor output;
};

// True if an upgrader has started this process.
[[nodiscard]] bool upgrader_is_there();

// Makes private copies of descriptors 0 and 1, and puts /dev/null and a copy of 2 (of /dev/null
// where 2 is closed) in their places. nullopt, with errno and nothing changed, where that fails.
[[nodiscard]] std::optional<Pipes> take_pipes();

// Puts them back as descriptors 0 and 1.
void give_back(const Pipes& pipes);

// Keeps the lock's descriptor, if there is one, from what this process starts. It stays open: the
// lock is held for as long as this process lives.
void keep_lock_private();

// So that nothing that this process starts takes itself for an agent.
void clean_environment();

}  // namespace agent_protocol
