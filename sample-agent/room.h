// Checks that the disk has room for the next writes.
#pragma once

#include <cstddef>
#include <string>

#include "sample-agent/result.h"

namespace sample_agent {

// Writes `bytes` bytes to an unnamed file in this directory, which is then gone. If such a file
// cannot be made, asks the file system, which does not know quotas.
[[nodiscard]] Outcome check_room(const std::string& directory, std::size_t bytes);

}  // namespace sample_agent
