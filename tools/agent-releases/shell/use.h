// Finds out which releases are in use now: by processes that execute them, and by upgraders that
// name them in the status in their control directory.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

struct Use {
  std::string executable;  // the absolute path of the program to start
  std::string by;          // the process or upgrader that uses the executable, in words
};

// Returns the files that processes execute, by /proc, as far as the caller may see them. Refuses if
// /proc cannot be read.
[[nodiscard]] Result<std::vector<Use>> used_by_processes();

// Returns the files that upgraders run or are about to run. Reads all control directories below
// /run/upgrader, and those in `controls`. Refuses if one of them cannot be read: it is then unknown
// which release its upgrader runs.
[[nodiscard]] Result<std::vector<Use>> used_by_upgraders(const std::vector<std::string>& controls);

// Parses the text of an upgrader's status.json. Returns the files that this upgrader runs or is
// about to run.
[[nodiscard]] Result<std::vector<Use>> uses_of_status(const std::string& text,
                                                      const std::string& control);

}  // namespace agent_releases
