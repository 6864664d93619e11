#include "tools/agentify/following.h"

#include <utility>

#include "tools/agentify/journal.h"

namespace agentify {

using agent_protocol::Agent;
using agent_releases::Follower;
using agent_releases::Release;
using agent_releases::Releases;
using agent_releases::Version;

std::optional<Version> running_version(const std::vector<Release>& releases,
                                       const std::string& program, const std::string& version) {
  for (const Release& release : releases) {
    if (program == release.path || program.starts_with(release.path + "/")) return release.version;
  }
  return Version::parse(version);
}

std::variant<Following, std::string> Following::open(const Options& options,
                                                     const std::string& program,
                                                     const std::string& version, Agent& agent) {
  const std::string keys = options.follow_keys.value_or("");
  const auto releases = Releases::open({.directory = *options.follow, .keys = keys});
  if (!releases) return releases.reason();
  const auto list = releases.value().list();
  if (!list) return list.reason();
  const std::optional<Version> running = running_version(list.value(), program, version);
  if (!running) {
    return program + " is no release of " + releases.value().directory() +
           ", and no --version such as 1.2.3 says which one runs";
  }
  auto follower = Follower::open(
      {.directory = releases.value().directory(),
       .keys = keys,
       .running = *running,
       .self_test = false},
      {.ask =
           [&agent](const std::string& id, const Release& release) {
             return agent.request_upgrade({.id = id, .executable = release.executable});
           },
       .report = [](const std::string& text) { log_line(text); }});
  if (!follower) return follower.reason();
  return Following(std::move(follower.value()));
}

void Following::upgrade_failed(const Agent::Failure& failure) {
  follower_.upgrade_failed({.id = failure.id,
                            .stage = failure.stage,
                            .reason = failure.reason,
                            .errno_name = failure.errno_name.value_or("")});
}

}  // namespace agentify
