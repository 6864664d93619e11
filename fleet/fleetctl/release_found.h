// A release that is to be run, as it is published.
#pragma once

#include <string>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/cell_records.h"

namespace fleetctl {

struct ReleaseFound {
  fleet::Release release = {};
  fleet::Revision revision = 0;
};

// The exit status; what is wrong has been said.
[[nodiscard]] int find_release(Asker& asker, const std::string& component,
                               const std::string& version, ReleaseFound& found);

}  // namespace fleetctl
