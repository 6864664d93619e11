// Parses the answer of a source of releases: an index of our own, or a list from GitHub's API.
// Pure.
//
// An index is `{"releases":[{"tag":"agent-1.2.0","prerelease":false,"manifests":["URL", ...]}]}`;
// its URLs are relative to the URL of the index. In a list of GitHub's, the manifests are the
// assets whose names end in `.json` and that have a signature, `.json.minisig`, beside them; drafts
// are ignored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/release_watch.h"

namespace fleet {

struct IndexedRelease {
  FoundRelease release = {};
  // URLs; the signature of each has the same URL with `.minisig`
  std::vector<std::string> manifests = {};

  bool operator==(const IndexedRelease&) const = default;
};

// Returns the URL at which a setting's source is asked: for `github:OWNER/NAME` that of GitHub's
// API.
[[nodiscard]] std::string url_of_source(std::string_view source);

// Returns a Refusal if the text is not an index. A release without manifests is left out.
[[nodiscard]] agent_protocol::Result<std::vector<IndexedRelease>> parse_index(
    std::string_view source, std::string_view text);

}  // namespace fleet
