// Locks by flock(2). The locked files can only be opened by their owner, since a user who can open
// a file, even only for reading, could also lock it. Every wait for a lock has a limit.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

inline constexpr mode_t lock_mode = 0600;

// How long to wait for a lock that another process holds. The wait ends early if `cancelled`
// returns true.
struct Patience {
  std::chrono::milliseconds limit{0};
  std::function<bool()> cancelled{};
};

[[nodiscard]] bool is_cancelled(const Patience& patience);
[[nodiscard]] Refusal cancelled_refusal();

// Opens the regular file `name`, makes it if it does not exist, and locks it. Returns nothing if
// another process holds the lock. Makes sure that the name still leads to the locked file. If the
// file's mode lets other users open it, corrects the mode.
[[nodiscard]] Result<std::optional<upgrader::OwnedFd>> try_lock(const Directory& directory,
                                                                const std::string& name,
                                                                int flags = 0);

// Returns true if a file of that name exists and any process, also this one, has locked it. Returns
// true as well if that cannot be found out.
[[nodiscard]] bool is_locked(const Directory& directory, const std::string& name);

// Tries try_lock() again and again, until the lock is taken or the patience ends.
[[nodiscard]] Result<upgrader::OwnedFd> wait_for_lock(const Directory& directory,
                                                      const std::string& name,
                                                      const Patience& patience, int flags = 0);

}  // namespace agent_releases
