// For agents that request their upgrades themselves, without a Follower. Chooses the release that
// should replace the agent, and records how the upgrade ended.
#pragma once

#include <optional>
#include <string>

#include "agent-releases/releases.h"
#include "agent-releases/result.h"
#include "tools/agent-releases/core/ledger.h"

namespace agent_releases {

struct Attempt {
  std::string id;  // the id with which to request the upgrade
  Release release;
  std::string left_out;  // why newer releases were left out, such as damaged bytes; or ""
};

// Chooses and verifies the release that should replace `running`, and records an upgrade to it as
// `trying`. The agent must request that upgrade next, because a release without a recorded ending
// counts as failed. Returns nothing if no release should replace `running`.
//
// `running` must be the version of an agent that has passed its trial. If the ledger has `running`
// as `trying`, its commit is recorded first.
//
// A release whose bytes have changed since it was added is left out, and the next one is chosen. If
// all are left out, the function refuses and records nothing.
[[nodiscard]] Result<std::optional<Attempt>> begin_attempt(const Releases& releases,
                                                           const Version& running, Moment now);

// Records in the ledger how an upgrade failed, unless the ledger has the ending of that upgrade
// already. Returns the last entry about the upgrade.
[[nodiscard]] Result<Entry> end_attempt(const Releases& releases, const Failure& failure,
                                        Moment now);

}  // namespace agent_releases
