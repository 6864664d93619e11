// The daemon's releases. This file finds out which release of the daemon is running, and performs
// --follow: it requests upgrades to newer releases, which somebody adds to a directory.
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

// Returns the name of the release in a program's path:
//   "1.2.3" for /srv/d/NAME-v1.2.3 and /srv/d/NAME-v1.2.3/bin/d
//   "15" for /usr/lib/d/15/bin/d
//   "v1" for /srv/d/v1/run: the directory's name, whatever it is, if the program is called `run`
// Returns an empty string for a path of any other form.
[[nodiscard]] std::string release_name(std::string_view path);

// Returns the version of the running daemon. This is the version of the release to which
// `program`, a resolved path, belongs. If `program` belongs to no release, parses `version`
// instead, and returns nothing if `version` is malformed.
[[nodiscard]] std::optional<agent_releases::Version> running_version(
    const std::vector<agent_releases::Release>& releases, const std::string& program,
    const std::string& version);

// Follows a directory of releases (--follow): asks the upgrader for upgrades to newer releases, and
// records in the directory's ledger how each upgrade ended. libagent-releases chooses the release
// and writes the ledger. This class tells libagent-releases which release is running, and sends an
// upgrade request to the upgrader when libagent-releases says so.
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

  // Records a failed upgrade in the ledger (the record of upgrades). An agent that has stayed
  // active learns of the failure from the message `upgrade_failed`. An agent that the upgrader has
  // started because of the failure learns of it from its `welcome`.
  void upgrade_failed(const agent_protocol::Agent::Failure& failure);

 private:
  explicit Following(agent_releases::Follower follower) : follower_(std::move(follower)) {}

  agent_releases::Follower follower_;
};

}  // namespace agentify
