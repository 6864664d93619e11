// Which of the releases that a source shows is to be taken: the rules of tags, channels and order.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// A release, as a source describes it.
struct FoundRelease {
  std::string tag = {};
  bool prerelease = false;

  bool operator==(const FoundRelease&) const = default;
};

enum class Channel { production, staging };

// A tag's version is what follows its first hyphen: `release-2018.11.07-1` is `2018.11.07-1`. No
// value if the tag has no hyphen, nothing before it, or nothing behind it that may be a version.
[[nodiscard]] std::optional<std::string> version_of_tag(std::string_view tag);

// Whether a release may have this version: nodes take semantic versions alone.
[[nodiscard]] bool may_be_published(std::string_view version);

// Which version is newer, by the one order of releases (agent-releases/version.h). A version that
// no release may have is older than each that one may, and of two such the texts are compared.
[[nodiscard]] std::strong_ordering compare_versions(std::string_view a, std::string_view b);

// The state of the component.
struct WatchState {
  std::string current = {};  // the newest version that was taken; empty: none yet
  bool under_way = false;    // a rollout, a plan, or a desired version that is not there yet
  bool halted = false;       // the last one failed, and nobody has said what is to be done
};

// The newest release that is newer than what was taken, of the channel (production: no
// pre-releases), and that may be published. No value if nothing is new, something is under way,
// or a person is waited for.
[[nodiscard]] std::optional<std::string> release_to_take(const std::vector<FoundRelease>& found,
                                                         Channel channel, const WatchState& state);

}  // namespace fleet
