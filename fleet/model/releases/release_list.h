// A source of releases is a server with a list of releases: an index in this project's format, or
// the list that GitHub's API returns for a repository. This file parses such a list, and chooses
// the newest release of the wanted channel. It does no input or output.
//
// An index is `{"releases":[{"tag":"agent-1.2.0","prerelease":false,"manifests":["URL", ...]}]}`.
// The URLs may be relative to the URL of the index. In a list from GitHub, a release's file
// NAME.json is a manifest if the release also has the file NAME.json.minisig, the signature.
// Releases that are drafts are ignored.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fleet {

// A release in the list of a source.
struct FoundRelease {
  std::string tag = {};
  bool prerelease = false;

  bool operator==(const FoundRelease&) const = default;
};

enum class Channel { production, staging };

// Returns the version in a tag, which is the part after the first hyphen: for
// `release-2018.11.07-1`, returns `2018.11.07-1`. Returns no value if the tag has no hyphen, has
// nothing before the hyphen, or has no valid version after it.
[[nodiscard]] std::optional<std::string> version_of_tag(std::string_view tag);

// Returns whether a release may have this version. The version must be a semantic version, since
// nodes refuse all others.
[[nodiscard]] bool may_be_published(std::string_view version);

// Compares versions in the order of releases (agent-releases/version.h). A version that
// may_be_published() refuses counts as older than all valid versions. Two invalid versions are
// compared as strings.
[[nodiscard]] std::strong_ordering compare_versions(std::string_view a, std::string_view b);

// The state of a component in the cell, for release_to_take().
struct WatchState {
  std::string current = {};  // the newest version known in the cell; empty if there is none
  bool under_way = false;    // a rollout runs, or some nodes do not run the desired version yet
  bool halted = false;       // the last change of version failed, and a person has to decide
};

// Returns the version of the newest release that may be published, is newer than the current
// version, and belongs to the channel. The channel `production` contains no pre-releases. Returns
// no value if the list contains no such release. Also returns no value if `state` says that a
// change of version is under way, or that a person has to decide first.
[[nodiscard]] std::optional<std::string> release_to_take(const std::vector<FoundRelease>& found,
                                                         Channel channel, const WatchState& state);

struct IndexedRelease {
  FoundRelease release = {};
  // The URLs of the manifests. A manifest's URL with `.minisig` appended is the URL of the
  // signature.
  std::vector<std::string> manifests = {};

  bool operator==(const IndexedRelease&) const = default;
};

// Returns the URL of the source that a setting names. If the setting is `github:OWNER/NAME`,
// returns a URL of GitHub's API.
[[nodiscard]] std::string url_of_source(std::string_view source);

// Returns the releases in the answer of a source, without those that have no manifests. Returns a
// Refusal if the text is not a list of releases in a known format.
[[nodiscard]] agent_protocol::Result<std::vector<IndexedRelease>> parse_index(
    std::string_view source, std::string_view text);

}  // namespace fleet
