// Functions that read the environment of this process, and the type of the environment for agents.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/number.h"

namespace upgrader {

// Returns the value of an environment variable as a number; nothing if there is no such variable,
// or if its value is not a whole number or is larger than `max`.
[[nodiscard]] std::optional<std::int64_t> number_in(const char* variable,
                                                    std::int64_t max = number_max);

// Returns how many sockets init has passed to this process (LISTEN_FDS), from descriptor
// first_passed_descriptor on. Returns nothing if the variables are absent, malformed or meant for
// another process (LISTEN_PID), or if one of the descriptors is not open.
[[nodiscard]] std::optional<int> passed_sockets(pid_t own_pid);

// The environment for agents. Points to texts that other objects own: copying them would take a
// twentieth of the time that the first agent's start takes (measured by `make size`).
struct Environment {
  std::vector<const char*> entries;  // texts of the form NAME=value
  // The index of the entry LISTEN_PID, into which each child writes its own pid; absent if there is
  // no such entry.
  std::optional<std::size_t> listen_pid{};
  // The descriptor of the lock; absent without a lock. Agents inherit it, and a variable tells them
  // its number.
  std::optional<int> lock_descriptor{};
};

}  // namespace upgrader
