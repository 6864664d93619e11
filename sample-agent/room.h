// Checks that the disk has room for the next writes.
#pragma once

#include <cstddef>
#include <string>

#include "sample-agent/result.h"

namespace sample_agent {

// Checks that `bytes` bytes can be written to this directory: writes them to a file without a name,
// which vanishes when it is closed. If such a file cannot be made, asks the file system for its
// free space instead, which does not consider quotas.
[[nodiscard]] Outcome check_room(const std::string& directory, std::size_t bytes);

}  // namespace sample_agent
