// May a release be added here and now: what its manifest says, held against the directory and the
// machine. Its signature and its bytes are judged elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent-releases/result.h"
#include "agent-releases/version.h"
#include "node/releases/core/manifest.h"
#include "node/releases/core/moment.h"

namespace agent_releases {

// What `uname -m` says on the machines for which this was built.
[[nodiscard]] std::string_view machine();

// The highest version of the agent protocol that upgraders of this release speak.
inline constexpr std::int64_t protocol_spoken = 1;

struct Circumstances {
  std::string name;                // of the directory
  std::string arch;                // of the machine
  Moment now = 0;                  // what the clock says
  std::optional<Moment> known;     // a time that has passed for certain: the ledger's last entry
  std::optional<Version> current;  // what `current` names
  bool older_is_wanted = false;
};

[[nodiscard]] Outcome admit(const Manifest& manifest, const Circumstances& circumstances);

}  // namespace agent_releases
