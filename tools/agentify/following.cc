#include "tools/agentify/following.h"

#include <utility>
#include <vector>

#include "tools/agentify/journal.h"

namespace agentify {
namespace {

// The version is looked for in this many names at the end of the program's path: the program's own
// name, and the names of the three directories above it.
constexpr std::size_t named_releases_max = 4;

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

bool looks_like_version(std::string_view name) {
  if (name.starts_with('v')) name.remove_prefix(1);
  return !name.empty() && is_digit(name.front());
}

std::vector<std::string_view> last_names(std::string_view path) {
  std::vector<std::string_view> names;
  while (names.size() < named_releases_max && !path.empty()) {
    const std::size_t slash = path.rfind('/');
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (begin < path.size()) names.push_back(path.substr(begin));
    path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  }
  return names;
}

}  // namespace

std::string release_name(std::string_view path) {
  constexpr std::string_view version_mark = "-v";
  const std::vector<std::string_view> names = last_names(path);
  for (const std::string_view name : names) {
    const std::size_t mark = name.rfind(version_mark);
    if (mark == std::string_view::npos || mark == 0) continue;
    const std::string_view version = name.substr(mark + version_mark.size());
    if (!version.empty() && is_digit(version.front())) return std::string(version);
  }
  if (names.size() < 2) return "";
  if (names[0] == "run") return std::string(names[1]);
  const bool in_bin = names[1] == "bin" || names[1] == "sbin";
  const std::size_t at = in_bin ? 2 : 1;
  return at < names.size() && looks_like_version(names[at]) ? std::string(names[at]) : "";
}

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
