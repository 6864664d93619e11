// The environment that a process was started with, and the one that it starts others with.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/number.h"

namespace upgrader {

// The value of the first of `entries` (NAME=value, ended by a null) with that name, as getenv() has
// it.
[[nodiscard]] std::optional<std::string_view> value_of(const char* const* entries,
                                                       std::string_view name);

// Returns the value as a number; nothing if it is not a whole number, or larger than `max`.
[[nodiscard]] std::optional<std::int64_t> number_in(std::optional<std::string_view> value,
                                                    std::int64_t max = number_max);

// How many sockets init has passed to us (LISTEN_FDS), from first_passed_descriptor on. Nothing if
// the variables are absent, meant for another process (LISTEN_PID), unreadable, or name a
// descriptor that is not open.
[[nodiscard]] std::optional<int> passed_sockets(const char* const* inherited, pid_t own_pid);

// Owns no text: to copy them all made the first agent's start a twentieth longer (make size).
struct Environment {
  std::vector<const char*> entries;         // NAME=value, in order
  std::optional<std::size_t> listen_pid{};  // the entry that is replaced by the child's own pid
  std::optional<int> lock_descriptor{};     // the child is told it by one more entry at the end
};

}  // namespace upgrader
