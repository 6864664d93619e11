// Locks files with flock(2). A file that is used as a lock must be accessible to its owner only,
// because a user who can open a file, even just for reading, can also lock the file. Every wait for
// a lock has a time limit.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

inline constexpr mode_t lock_mode = 0600;

// How long to wait for a lock that a different process holds. The wait also ends when `cancelled`
// returns true.
struct Patience {
  std::chrono::milliseconds limit{0};
  std::function<bool()> cancelled{};
};

[[nodiscard]] bool is_cancelled(const Patience& patience);
[[nodiscard]] Refusal cancelled_refusal();

// Opens and locks the regular file `name`, and makes the file if it does not exist. Returns nothing
// if the file is locked already. After locking, checks that `name` still leads to the locked file,
// because a different process may have removed the file in between. Corrects the mode of the locked
// file, so that other users cannot open it.
[[nodiscard]] Result<std::optional<upgrader::OwnedFd>> try_lock(const Directory& directory,
                                                                const std::string& name,
                                                                int flags = 0);

// Returns true if the file `name` exists and is locked by any process, including this one. Also
// returns true if the file cannot be checked.
[[nodiscard]] bool is_locked(const Directory& directory, const std::string& name);

// Repeats try_lock() until it succeeds. Refuses when the time limit of `patience` has passed, or
// when `patience.cancelled` returns true.
[[nodiscard]] Result<upgrader::OwnedFd> wait_for_lock(const Directory& directory,
                                                      const std::string& name,
                                                      const Patience& patience, int flags = 0);

}  // namespace agent_releases
