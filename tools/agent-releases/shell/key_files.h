// The files of a publisher's keys: made, and read with their password.
#pragma once

#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/minisign_secret.h"

namespace agent_releases {

// Asks for the key's password if it has one.
[[nodiscard]] Result<SecretKey> read_secret_key(const std::string& path);

// Makes both files, the secret one with mode 0600. A file that exists is never overwritten: then,
// and whatever else fails, neither file is made.
[[nodiscard]] Result<PublicKey> make_key_files(const std::string& secret, const std::string& open,
                                               bool with_password);

}  // namespace agent_releases
