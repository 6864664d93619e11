// A directory of releases that is followed (--follow): asks for the release that is due, and lets
// the ledger there remember how it ended. The decisions and the files are libagent-releases'; this
// only tells it who asks and which release runs.
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

// Which release runs: the one of `releases` that `program`, a resolved path, lies in or is; where
// it is none of them, what `version` says. Nothing where neither tells.
[[nodiscard]] std::optional<agent_releases::Version> running_version(
    const std::vector<agent_releases::Release>& releases, const std::string& program,
    const std::string& version);

class Following {
 public:
  // `version` is the daemon's own, or empty. A string says why the directory cannot be followed.
  [[nodiscard]] static std::variant<Following, std::string> open(const Options& options,
                                                                 const std::string& program,
                                                                 const std::string& version,
                                                                 agent_protocol::Agent& agent);

  [[nodiscard]] int descriptor() const { return follower_.fd(); }
  void begin() { follower_.begin(); }
  void dispatch() { follower_.dispatch(); }

  // Told as the upgrader tells it: at once, or in the welcome of a fallback.
  void upgrade_failed(const agent_protocol::Agent::Failure& failure);

 private:
  explicit Following(agent_releases::Follower follower) : follower_(std::move(follower)) {}

  agent_releases::Follower follower_;
};

}  // namespace agentify
