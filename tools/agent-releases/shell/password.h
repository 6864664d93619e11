// Reads the password of a secret key: from the file that MINISIGN_PASSWORD_FILE names, or from the
// terminal.
#pragma once

#include <string>

#include "agent-releases/result.h"

namespace agent_releases {

// Returns the first line of the file, or the line that is typed. Refuses if there is neither a file
// nor a terminal, or if a signal interrupts the question.
[[nodiscard]] Result<std::string> read_password(const std::string& question);

// Reads the password of a new key. On a terminal, asks for it twice. Refuses an empty password.
[[nodiscard]] Result<std::string> read_new_password();

}  // namespace agent_releases
