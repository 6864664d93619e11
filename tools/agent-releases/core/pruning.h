// Which releases may go: all are known, with what keeps them, in; those that are removed, out.
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
  std::optional<std::string> needed;  // what for; such a release never goes
};

struct Bounds {
  std::size_t keep = 1;          // so many of the newest stay
  std::optional<Moment> before;  // what was added later stays
};

// In order of version.
[[nodiscard]] std::vector<Version> choose_to_prune(std::vector<Holding> holdings,
                                                   const Bounds& bounds);

}  // namespace agent_releases
