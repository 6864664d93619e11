// Chooses the releases that may be removed. For each release the caller says whether there is a
// reason to keep it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent-releases/version.h"
#include "tools/agent-releases/core/moment.h"

namespace agent_releases {

struct Holding {
  Version version;
  Moment added = 0;
  std::optional<std::string> needed;  // why the release must be kept; absent if it may be removed
};

struct Bounds {
  std::size_t keep = 1;          // how many of the newest releases stay
  std::optional<Moment> before;  // releases that were added at or after this time stay
};

// Returns the versions of the releases to remove, oldest version first.
[[nodiscard]] std::vector<Version> choose_to_prune(std::vector<Holding> holdings,
                                                   const Bounds& bounds);

}  // namespace agent_releases
