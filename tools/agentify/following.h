// Follows a directory of releases (--follow): requests an upgrade to the release that is due, and
// records in the directory's ledger how the upgrade ended. libagent-releases decides and writes the
// files. This class tells libagent-releases which release runs, and passes on its requests to the
// upgrader.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent-protocol/agent.h"
#include "agent-releases/follower.h"
#include "agent-releases/releases.h"
#include "tools/agentify/options.h"

namespace agentify {

// Returns the version that runs. This is the version of the release in `releases` that contains
// `program`, a resolved path. If no release contains it, parses `version`, and returns nothing if
// that is not a version either.
[[nodiscard]] std::optional<agent_releases::Version> running_version(
    const std::vector<agent_releases::Release>& releases, const std::string& program,
    const std::string& version);

class Following {
 public:
  // Opens the directory of --follow. `version` is the daemon's own version, or empty. Returns the
  // reason in words if the directory cannot be followed.
  [[nodiscard]] static std::variant<Following, std::string> open(const Options& options,
                                                                 const std::string& program,
                                                                 const std::string& version,
                                                                 agent_protocol::Agent& agent);

  [[nodiscard]] int descriptor() const { return follower_.fd(); }
  void begin() { follower_.begin(); }
  void dispatch() { follower_.dispatch(); }

  // Records a failed upgrade. An agent that stays active is told of the failure at once, by
  // `upgrade_failed`. A fallback finds the failure in its welcome.
  void upgrade_failed(const agent_protocol::Agent::Failure& failure);

 private:
  explicit Following(agent_releases::Follower follower) : follower_(std::move(follower)) {}

  agent_releases::Follower follower_;
};

}  // namespace agentify
