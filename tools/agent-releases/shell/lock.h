// Locks by flock(2) on files that only their owner can open: whoever may open a file, if only for
// reading, may lock it. Every wait for one has an end.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/directory.h"

namespace agent_releases {

inline constexpr mode_t lock_mode = 0600;

// How long to wait for another process, at most, and whether the caller still wants to.
struct Patience {
  std::chrono::milliseconds limit{0};
  std::function<bool()> cancelled{};
};

[[nodiscard]] bool is_cancelled(const Patience& patience);
[[nodiscard]] Refusal cancelled_refusal();

// Opens the regular file `name`, made if it does not exist, and locks it; nothing where another
// holds it. The name led to the locked file when it was locked. A mode that lets others open the
// file is mended.
[[nodiscard]] Result<std::optional<upgrader::OwnedFd>> try_lock(const Directory& directory,
                                                                const std::string& name,
                                                                int flags = 0);

// Whether a file of that name is there and anybody has locked it, this process included; also where
// that cannot be known.
[[nodiscard]] bool is_locked(const Directory& directory, const std::string& name);

// The same as try_lock(), tried again until there is an end to the patience.
[[nodiscard]] Result<upgrader::OwnedFd> wait_for_lock(const Directory& directory,
                                                      const std::string& name,
                                                      const Patience& patience, int flags = 0);

}  // namespace agent_releases
