// The daemon's releases. This file finds out which version runs, and performs --follow: it requests
// an upgrade when a release in the directory of releases is due.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "agent-protocol/agent.h"
#include "agent-releases/follower.h"
#include "agent-releases/releases.h"
#include "tools/agentify/options.h"

namespace agentify {

// Returns the name of the release in a program's path: "1.2.3" for the release NAME-v1.2.3 or a
// file in it, and "15" for /usr/lib/d/15/bin/d. If the program is called `run`, returns the name of
// its directory, such as "v1" for /srv/d/v1/run. Returns an empty string if the path has no name of
// one of these forms.
[[nodiscard]] std::string release_name(std::string_view path);

// Returns the version that runs: the version of the release that contains `program`, a resolved
// path. If no release contains `program`, parses `version` instead. Returns nothing if `version` is
// not a version.
[[nodiscard]] std::optional<agent_releases::Version> running_version(
    const std::vector<agent_releases::Release>& releases, const std::string& program,
    const std::string& version);

// Follows a directory of releases (--follow): requests an upgrade to the release that is due, and
// records in the directory's ledger how the upgrade ended. libagent-releases makes the decisions
// and writes the files. This class tells libagent-releases which release runs, and sends the
// requests of libagent-releases to the upgrader.
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

  // Records a failed upgrade in the ledger. If this agent has stayed active, the failure was
  // reported by the message `upgrade_failed`. If this agent was started because the upgrade had
  // failed (a fallback), the failure was in its `welcome`.
  void upgrade_failed(const agent_protocol::Agent::Failure& failure);

 private:
  explicit Following(agent_releases::Follower follower) : follower_(std::move(follower)) {}

  agent_releases::Follower follower_;
};

}  // namespace agentify
