// Functions for agents that request their upgrades themselves, without the class Follower. The
// functions choose the release that should replace the agent, and record how the upgrade ended.
#pragma once

#include <optional>
#include <string>

#include "agent-releases/releases.h"
#include "agent-releases/result.h"
#include "tools/agent-releases/core/ledger.h"

namespace agent_releases {

struct Attempt {
  std::string id;  // the id with which to request the upgrade; "" if none is to be requested
  std::optional<Release> release;  // absent if no release should replace the running one
  // why newer releases, or the desired release, were not chosen, for example because their bytes
  // are damaged; or ""
  std::string left_out;
};

// Chooses and verifies the release that should replace `running`, and adds an entry `trying` to the
// ledger (the record of upgrades). The agent must then request this upgrade, because a release
// whose newest entry says `trying` counts as failed. Returns an Attempt without a release if
// `running` should stay.
//
// `running` must be the version of an agent that has passed its trial. If its newest entry says
// `trying`, this function first records that the upgrade to `running` is committed.
//
// Leaves out releases that have failed or whose bytes have changed. If bytes have changed and no
// other release can be chosen, refuses and records no attempt.
[[nodiscard]] Result<Attempt> begin_attempt(const Releases& releases, const Version& running,
                                            Moment now);

// Records in the ledger how an upgrade failed, unless the ledger already says how this upgrade
// ended. Returns the newest entry about the upgrade.
[[nodiscard]] Result<Entry> end_attempt(const Releases& releases, const Failure& failure,
                                        Moment now);

}  // namespace agent_releases
