// Parses the answer of a source of releases: an index in this project's format, or a list from
// GitHub's API. Pure.
//
// An index is `{"releases":[{"tag":"agent-1.2.0","prerelease":false,"manifests":["URL", ...]}]}`;
// its URLs are relative to the URL of the index. In a list from GitHub, the manifests are those
// files of a release whose names end in `.json` and that have a signature, `.json.minisig`, beside
// them. Drafts are ignored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/release_watch.h"

namespace fleet {

struct IndexedRelease {
  FoundRelease release = {};
  // The URLs of the manifests. The signature of each has the same URL with `.minisig` added.
  std::vector<std::string> manifests = {};

  bool operator==(const IndexedRelease&) const = default;
};

// Returns the URL of the source that a setting names. For `github:OWNER/NAME`, it is a URL of
// GitHub's API.
[[nodiscard]] std::string url_of_source(std::string_view source);

// Returns the releases in the answer of a source, without those that have no manifests. Returns a
// Refusal if the text is not such an answer.
[[nodiscard]] agent_protocol::Result<std::vector<IndexedRelease>> parse_index(
    std::string_view source, std::string_view text);

}  // namespace fleet
