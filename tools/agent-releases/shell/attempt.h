// For agents that request their upgrades by themselves, without a Follower: chooses the release
// that should replace the agent, and records how the upgrade ended.
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

// Chooses and verifies the release that should replace `running`, and records that it is being
// tried. `running` is the version of an agent that has passed its trial: if the ledger says that
// this version is being tried, the function first records that it is committed. The agent must
// request the upgrade next, since a release that was tried counts as failed until an ending is
// recorded. A release that does not have the bytes that were added is left out, and the next one is
// chosen. If every candidate is left out, the function refuses, and records no try. Returns nothing
// if no release should replace `running`.
[[nodiscard]] Result<std::optional<Attempt>> begin_attempt(const Releases& releases,
                                                           const Version& running, Moment now);

// Records in the ledger how an upgrade failed, unless the ledger has its ending already. Returns
// the ledger's last entry about this upgrade.
[[nodiscard]] Result<Entry> end_attempt(const Releases& releases, const Failure& failure,
                                        Moment now);

}  // namespace agent_releases
