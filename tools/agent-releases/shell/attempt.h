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
  std::string left_out;  // why newer releases, which are damaged, were left out; or ""
};

// `running` is the version of an agent that has passed its trial. If the ledger says that this
// version is being tried, records that it is committed. Then verifies the release that should
// replace `running`, and records that it is being tried. The agent must request the upgrade next: a
// release that was tried counts as failed until an ending is recorded. A release that is not as it
// was added is left out, and the next one is chosen. If no other release can be chosen, refuses,
// and does not record that one is tried. Returns nothing if no release should replace `running`.
[[nodiscard]] Result<std::optional<Attempt>> begin_attempt(const Releases& releases,
                                                           const Version& running, Moment now);

// Records in the ledger how an upgrade failed, unless the ledger has its ending already. Returns
// the ledger's last entry about this upgrade.
[[nodiscard]] Result<Entry> end_attempt(const Releases& releases, const Failure& failure,
                                        Moment now);

}  // namespace agent_releases
