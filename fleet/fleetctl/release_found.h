// Finds a published release that a person wants to run.
#pragma once

#include <string>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/cell_records.h"

namespace fleetctl {

struct ReleaseFound {
  fleet::Release release = {};
  fleet::Revision revision = 0;
};

// Puts the release into `found`. Returns the exit status. The user has been told of any failure.
[[nodiscard]] int find_release(Asker& asker, const std::string& component,
                               const std::string& version, ReleaseFound& found);

}  // namespace fleetctl
