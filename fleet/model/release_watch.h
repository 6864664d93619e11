// Chooses the release to take among those that a source shows, by the rules for tags, channels and
// order.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// A release as its source describes it.
struct FoundRelease {
  std::string tag = {};
  bool prerelease = false;

  bool operator==(const FoundRelease&) const = default;
};

enum class Channel { production, staging };

// Returns the version in a tag, which follows the first hyphen: `release-2018.11.07-1` is
// `2018.11.07-1`. Returns no value if the tag has no hyphen, nothing before it, or nothing after it
// that may be a version.
[[nodiscard]] std::optional<std::string> version_of_tag(std::string_view tag);

// Returns whether a release may have this version: nodes accept only semantic versions.
[[nodiscard]] bool may_be_published(std::string_view version);

// Compares versions by the order of releases (agent-releases/version.h). A version that
// may_be_published() refuses counts as older than all versions that it accepts; two refused
// versions are compared as texts.
[[nodiscard]] std::strong_ordering compare_versions(std::string_view a, std::string_view b);

// The state of the component that is watched.
struct WatchState {
  std::string current = {};  // the newest version that was taken; empty if none yet
  bool under_way = false;    // a rollout or a plan runs, or not all nodes run the desired version
  bool halted = false;       // the last rollout failed, and nobody has said what to do
};

// Returns the newest release that is newer than the one taken last, belongs to the channel
// (production: no pre-releases), and may be published. Returns no value if nothing is new,
// something is under way, or a person has to decide first.
[[nodiscard]] std::optional<std::string> release_to_take(const std::vector<FoundRelease>& found,
                                                         Channel channel, const WatchState& state);

}  // namespace fleet
