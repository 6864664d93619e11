#include "fleet/model/release_watch.h"

#include "agent-releases/version.h"
#include "fleet/model/keys.h"

namespace fleet {
namespace {

using agent_releases::Version;

}  // namespace

std::optional<std::string> version_of_tag(std::string_view tag) {
  const std::size_t hyphen = tag.find('-');
  if (hyphen == std::string_view::npos || hyphen == 0) return std::nullopt;
  const std::string_view version = tag.substr(hyphen + 1);
  if (!is_version_name(version)) return std::nullopt;
  return std::string(version);
}

bool may_be_published(std::string_view version) {
  return Version::parse(version).has_value();
}

std::strong_ordering compare_versions(std::string_view a, std::string_view b) {
  const auto left = Version::parse(a);
  const auto right = Version::parse(b);
  if (left && right) return *left <=> *right;
  if (!left && !right) return a <=> b;
  return left ? std::strong_ordering::greater : std::strong_ordering::less;
}

std::optional<std::string> release_to_take(const std::vector<FoundRelease>& found, Channel channel,
                                           const WatchState& state) {
  if (state.under_way || state.halted) return std::nullopt;
  std::optional<std::string> newest;
  for (const FoundRelease& release : found) {
    if (release.prerelease && channel == Channel::production) continue;
    const std::optional<std::string> version = version_of_tag(release.tag);
    if (!version || !may_be_published(*version)) continue;
    if (!state.current.empty() && compare_versions(*version, state.current) <= 0) continue;
    if (!newest || compare_versions(*version, *newest) > 0) newest = version;
  }
  return newest;
}

}  // namespace fleet
