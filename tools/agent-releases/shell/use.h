// Who uses a release at this moment: processes, and upgraders by what they say in their control
// directories.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"

namespace agent_releases {

struct Use {
  std::string executable;  // absolute
  std::string by;          // in words: who
};

// What /proc says that processes execute, as far as we may see it. Refused where it says nothing.
[[nodiscard]] Result<std::vector<Use>> used_by_processes();

// What upgraders run and are about to run: of every directory below /run/upgrader, and of
// `controls`. Refused where one of them does not let itself be read: what it runs is not known
// then.
[[nodiscard]] Result<std::vector<Use>> used_by_upgraders(const std::vector<std::string>& controls);

// What one status.json says.
[[nodiscard]] Result<std::vector<Use>> uses_of_status(const std::string& text,
                                                      const std::string& control);

}  // namespace agent_releases
