// Checks a directory of published files as `add` would on a machine with the right processor, so
// that faults are found before anybody fetches the files.
#pragma once

#include <string>
#include <vector>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/moment.h"

namespace agent_releases {

struct CheckedManifest {
  std::string name;  // the name of the manifest's file
  Outcome sound = std::monostate{};
  std::string notes{};  // the facts that could not be checked, and why
};

// Checks the files *.json of the directory in the order of their names: those that are manifests,
// and those that are signed. With `keys`, a directory of public keys, each must be signed by one of
// these keys; without it, no signature is verified. Each archive is unpacked into a directory below
// TMPDIR, which is removed afterwards.
[[nodiscard]] Result<std::vector<CheckedManifest>> check_published(const std::string& directory,
                                                                   const std::string& keys,
                                                                   Moment now);

}  // namespace agent_releases
