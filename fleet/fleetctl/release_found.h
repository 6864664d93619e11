// Finds a published release, for a person who wants to run it.
#pragma once

#include <string>

#include "fleet/fleetctl/asker.h"
#include "fleet/model/cell_records.h"

namespace fleetctl {

struct ReleaseFound {
  fleet::Release release = {};
  fleet::Revision revision = 0;
};

// Reads the release into `found`. Prints an error if that fails. Returns the exit status.
[[nodiscard]] int find_release(Asker& asker, const std::string& component,
                               const std::string& version, ReleaseFound& found);

}  // namespace fleetctl
