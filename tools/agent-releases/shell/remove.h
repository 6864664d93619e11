// Finds out from an upgrader's status which releases are in use and so must not be removed.
// remove.cc reads the status file and removes releases.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

struct Use {
  std::string executable;  // the absolute path of a program that must not be removed
  std::string by;          // the process or upgrader that uses the executable, in words
};

// Parses the text of an upgrader's status.json. Returns the files that this upgrader runs, is about
// to run, or would run if the first agent failed at a boot.
[[nodiscard]] Result<std::vector<Use>> uses_of_status(const std::string& text,
                                                      const std::string& control);

}  // namespace agent_releases
