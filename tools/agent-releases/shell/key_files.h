// Makes the files of a publisher's keys, and reads a secret key with its password.
#pragma once

#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/minisign.h"

namespace agent_releases {

// Reads a secret key, and asks for its password if it has one.
[[nodiscard]] Result<SecretKey> read_secret_key(const std::string& path);

// Makes the two files of a key pair; the file of the secret key gets mode 0600. Never overwrites a
// file: if one of the two exists, or anything else fails, makes neither.
[[nodiscard]] Result<PublicKey> make_key_files(const std::string& secret, const std::string& open,
                                               bool with_password);

}  // namespace agent_releases
