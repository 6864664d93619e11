// A release that is to be run, as it is published.
#pragma once

#include <string>

#include "fleet/fleetctl/asker.h"

namespace fleetctl {

struct ReleaseFound {
  std::string digest = {};
  fleet::Revision revision = 0;
};

// The exit status; what is wrong has been said.
[[nodiscard]] int find_release(Asker& asker, const std::string& component,
                               const std::string& version, ReleaseFound& found);

}  // namespace fleetctl
