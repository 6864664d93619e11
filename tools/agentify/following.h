// Follows a directory of releases (--follow): requests the release that is due, and records in the
// ledger there how it ended. libagent-releases makes the decisions and writes the files; this class
// only passes on who asks and which release runs.
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

// Returns which release runs: the one of `releases` that `program`, a resolved path, is or lies in;
// otherwise the one that `version` names; otherwise nothing.
[[nodiscard]] std::optional<agent_releases::Version> running_version(
    const std::vector<agent_releases::Release>& releases, const std::string& program,
    const std::string& version);

class Following {
 public:
  // `version` is the daemon's own, or empty. Returns a text if the directory cannot be followed.
  [[nodiscard]] static std::variant<Following, std::string> open(const Options& options,
                                                                 const std::string& program,
                                                                 const std::string& version,
                                                                 agent_protocol::Agent& agent);

  [[nodiscard]] int descriptor() const { return follower_.fd(); }
  void begin() { follower_.begin(); }
  void dispatch() { follower_.dispatch(); }

  // Records a failed upgrade, which the upgrader reports at once, or in the welcome of a fallback.
  void upgrade_failed(const agent_protocol::Agent::Failure& failure);

 private:
  explicit Following(agent_releases::Follower follower) : follower_(std::move(follower)) {}

  agent_releases::Follower follower_;
};

}  // namespace agentify
