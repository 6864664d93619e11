// Files as one archive in the format of tar, by libarchive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/cell/machine_files.h"

namespace fleetctl {

// All files belong to root, and are as old as `seconds` since 1970: the same files make the same
// archive. Returns an empty text if libarchive fails.
[[nodiscard]] std::string archive_of(const std::vector<fleet::MachineFile>& files,
                                     std::int64_t seconds);

}  // namespace fleetctl
