// The password of a secret key: from the file that MINISIGN_PASSWORD_FILE names, or from whoever
// sits at the terminal.
#pragma once

#include <string>

#include "agent-releases/result.h"

namespace agent_releases {

// The file's first line, or what is typed. Refused if there is neither, or on an interruption.
[[nodiscard]] Result<std::string> read_password(const std::string& question);

// The same for a new key: asked twice on a terminal. An empty one is refused.
[[nodiscard]] Result<std::string> read_new_password();

}  // namespace agent_releases
