// Reads the password of a secret key: from the file that MINISIGN_PASSWORD_FILE names, or from the
// terminal.
#pragma once

#include <string>

#include "agent-releases/result.h"

namespace agent_releases {

// Reads a password: the first line of the file that MINISIGN_PASSWORD_FILE names, or else a line
// from the terminal after printing `question`. Refuses if there is neither a file nor a terminal,
// or if a signal interrupts the question.
[[nodiscard]] Result<std::string> read_password(const std::string& question);

// Reads the password of a new key. On a terminal, asks for it twice. Refuses an empty password.
[[nodiscard]] Result<std::string> read_new_password();

}  // namespace agent_releases
