// Reads a publisher's secret key, with its password.
#pragma once

#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/minisign.h"

namespace agent_releases {

// Reads a secret key, and asks for its password if it has one.
[[nodiscard]] Result<SecretKey> read_secret_key(const std::string& path);

}  // namespace agent_releases
