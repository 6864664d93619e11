// Locks by flock(2). Only their owner can open the locked files: a user who can open a file, even
// just for reading, could also lock it. Every wait for a lock has a time limit.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

inline constexpr mode_t lock_mode = 0600;

// How long to wait for a lock that another process holds. The wait also ends when `cancelled`
// returns true.
struct Patience {
  std::chrono::milliseconds limit{0};
  std::function<bool()> cancelled{};
};

[[nodiscard]] bool is_cancelled(const Patience& patience);
[[nodiscard]] Refusal cancelled_refusal();

// Opens and locks the regular file `name`, which is made if it does not exist. Returns nothing if
// another process holds the lock. Makes sure that `name` still leads to the locked file afterwards.
// Corrects the mode of a file that other users could open.
[[nodiscard]] Result<std::optional<upgrader::OwnedFd>> try_lock(const Directory& directory,
                                                                const std::string& name,
                                                                int flags = 0);

// Returns true if the file `name` exists and is locked by any process, including this one. Also
// returns true if this cannot be found out.
[[nodiscard]] bool is_locked(const Directory& directory, const std::string& name);

// Repeats try_lock() until it succeeds or `patience` is used up.
[[nodiscard]] Result<upgrader::OwnedFd> wait_for_lock(const Directory& directory,
                                                      const std::string& name,
                                                      const Patience& patience, int flags = 0);

}  // namespace agent_releases
