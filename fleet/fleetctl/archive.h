// Packs files into an archive in the format of tar, by libarchive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fleet/cell/machine_files.h"

namespace fleetctl {

// Returns an archive of the files, or an empty text if libarchive fails. All files belong to root
// and have the time `seconds` (since 1970), so the same files make the same archive.
[[nodiscard]] std::string archive_of(const std::vector<fleet::MachineFile>& files,
                                     std::int64_t seconds);

}  // namespace fleetctl
