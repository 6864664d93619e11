// Finds the users of a release at this moment: processes that execute it, and upgraders whose
// control directory names it.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

struct Use {
  std::string executable;  // absolute
  std::string by;          // in words: who
};

// The files that processes execute, by /proc, as far as the caller may see them. Refused if /proc
// cannot be read.
[[nodiscard]] Result<std::vector<Use>> used_by_processes();

// The files that upgraders run or are about to run, by every control directory below
// /run/upgrader and by `controls`. Refused if one of these directories cannot be read, because then
// nobody knows what its upgrader runs.
[[nodiscard]] Result<std::vector<Use>> used_by_upgraders(const std::vector<std::string>& controls);

// The same by the text of one status.json.
[[nodiscard]] Result<std::vector<Use>> uses_of_status(const std::string& text,
                                                      const std::string& control);

}  // namespace agent_releases
