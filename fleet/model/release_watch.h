// Chooses one of the releases that a source (a repository on GitHub, for example) lists: by their
// tags, the wanted channel and the order of versions.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// A release in the list of a source, such as a repository on GitHub.
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

// Returns whether a release may have this version. The version must be a semantic version, since
// nodes refuse others.
[[nodiscard]] bool may_be_published(std::string_view version);

// Compares versions in the order of releases (agent-releases/version.h). A version that
// may_be_published() refuses counts as older than any other; two such versions are compared as
// texts.
[[nodiscard]] std::strong_ordering compare_versions(std::string_view a, std::string_view b);

// The state of a component whose source is watched.
struct WatchState {
  std::string current = {};  // the newest version in use so far; empty if there is none
  bool under_way = false;    // a rollout runs, or some nodes do not run the desired version yet
  bool halted = false;       // the last change failed, and a person has to decide
};

// Returns the newest release that may be published, is newer than the current version, and belongs
// to the channel (production: not a pre-release). Returns no value if there is no such release, a
// change is under way, or a person has to decide first.
[[nodiscard]] std::optional<std::string> release_to_take(const std::vector<FoundRelease>& found,
                                                         Channel channel, const WatchState& state);

}  // namespace fleet
