// Locks by flock(2) on files that only their owner can open: a user who may open a file, even only
// for reading, may lock it. No wait for a lock is endless.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

inline constexpr mode_t lock_mode = 0600;

// The longest time to wait for another process, and a function that returns true to end the wait.
struct Patience {
  std::chrono::milliseconds limit{0};
  std::function<bool()> cancelled{};
};

[[nodiscard]] bool is_cancelled(const Patience& patience);
[[nodiscard]] Refusal cancelled_refusal();

// Opens the regular file `name`, which is made if it does not exist, and locks it. Returns nothing
// if another process holds it. Checks that the name led to the locked file when it was locked. If
// the mode lets others open the file, corrects it.
[[nodiscard]] Result<std::optional<upgrader::OwnedFd>> try_lock(const Directory& directory,
                                                                const std::string& name,
                                                                int flags = 0);

// Returns true if a file of that name exists and a process has locked it, this process included;
// also if that cannot be found out.
[[nodiscard]] bool is_locked(const Directory& directory, const std::string& name);

// Tries try_lock() again and again until the patience ends.
[[nodiscard]] Result<upgrader::OwnedFd> wait_for_lock(const Directory& directory,
                                                      const std::string& name,
                                                      const Patience& patience, int flags = 0);

}  // namespace agent_releases
