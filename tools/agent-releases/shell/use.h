// Finds the users of a release at this moment: processes that execute it, and upgraders that name
// it in the status of their control directory.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

struct Use {
  std::string executable;  // the absolute path of the program to start
  std::string by;          // the process or upgrader that uses the executable, in words
};

// Returns the files that processes execute, from /proc, as far as the caller may see them. Refuses
// if /proc cannot be read.
[[nodiscard]] Result<std::vector<Use>> used_by_processes();

// Returns the files that upgraders run or are about to run. Looks at every control directory below
// /run/upgrader and at `controls`. Refuses if one of these directories cannot be read, since it is
// then unknown which release its upgrader runs.
[[nodiscard]] Result<std::vector<Use>> used_by_upgraders(const std::vector<std::string>& controls);

// Parses the text of an upgrader's status.json. Returns the files that the upgrader runs or is
// about to run.
[[nodiscard]] Result<std::vector<Use>> uses_of_status(const std::string& text,
                                                      const std::string& control);

}  // namespace agent_releases
