// Chooses the release that should run next, or none. The choice depends on the releases in the
// directory, the desired version, the running version, and the versions that have failed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "agent-releases/version.h"
#include "tools/agent-releases/core/ledger.h"

namespace agent_releases {

struct Candidate {
  Version version;
  std::string sha256;
};

// The operator's wish: the version in the file `desired`.
struct Wish {
  std::optional<Version> version;  // the desired version; absent if the file holds no valid version
  std::string writing;             // an identifier that changes at each write of the file
};

// Returns the index of the release that should replace `running`, or nothing. With a wish, this is
// the desired release. Without a wish, it is the newest release that is newer than `running` and
// not a pre-release. A release that has failed is never chosen. If the file `desired` holds no
// valid version, no release is chosen, because the operator may have wanted any version.
[[nodiscard]] std::optional<std::size_t> choose(const std::vector<Candidate>& releases,
                                                const std::optional<Wish>& wish,
                                                const Version& running,
                                                const std::vector<Entry>& ledger);

}  // namespace agent_releases
