// Whether there is room on the disk for what the work is going to write.
#pragma once

#include <cstddef>
#include <string>

#include "sample-agent/result.h"

namespace sample_agent {

// Writes so many bytes to a file of this directory that has no name, which is gone afterwards.
// If no such file can be had there, the file system is asked, which knows no quotas.
[[nodiscard]] Outcome check_room(const std::string& directory, std::size_t bytes);

}  // namespace sample_agent
