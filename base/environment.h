// Reads the environment that a process was started with, and holds the one with which it starts
// agents.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/number.h"

namespace upgrader {

// Returns the value of the first of `entries` (NAME=value, with a null at the end) that has this
// name, as getenv() does.
[[nodiscard]] std::optional<std::string_view> value_of(const char* const* entries,
                                                       std::string_view name);

// Returns the value as a number; nothing if it is not a whole number, or larger than `max`.
[[nodiscard]] std::optional<std::int64_t> number_in(std::optional<std::string_view> value,
                                                    std::int64_t max = number_max);

// Returns how many sockets init has passed to us (LISTEN_FDS), from first_passed_descriptor on.
// Returns nothing if the variables are absent, meant for another process (LISTEN_PID) or
// unreadable, or if one of the descriptors is not open.
[[nodiscard]] std::optional<int> passed_sockets(const char* const* inherited, pid_t own_pid);

// The environment for agents. It points to texts that others own: copying them made the first
// agent's start a twentieth longer (make size).
struct Environment {
  std::vector<const char*> entries;         // NAME=value, in order
  std::optional<std::size_t> listen_pid{};  // the entry in which the child writes its own pid
  std::optional<int> lock_descriptor{};     // passed on to the child by an additional entry
};

}  // namespace upgrader
