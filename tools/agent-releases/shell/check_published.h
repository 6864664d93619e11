// Checks a directory of published files in the way in which `add` checks them on a machine. So
// faults are found before any machine fetches the files.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/moment.h"

namespace agent_releases {

struct CheckedManifest {
  std::string name;  // the name of the manifest's file
  Outcome sound = std::monostate{};
  std::string notes{};  // what could not be checked, and why
};

// Checks all manifests among the files *.json of a directory, in the order of their names. `keys`
// is a directory of public keys. Each manifest must be signed by one of them; if `keys` is empty,
// no signature is verified. Each archive is unpacked into a temporary directory, which is removed
// afterwards.
[[nodiscard]] Result<std::vector<CheckedManifest>> check_published(const std::string& directory,
                                                                   const std::string& keys,
                                                                   Moment now);

}  // namespace agent_releases
