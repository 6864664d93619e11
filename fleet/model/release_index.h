// The answer of a source of releases: an index of our own, or what GitHub's API lists. Pure.
//
// An index is `{"releases":[{"tag":"agent-1.2.0","prerelease":false,"manifests":["URL", ...]}]}`,
// its URLs relative to its own. Of GitHub's releases those assets are manifests that end in `.json`
// and have a signature, `.json.minisig`, beside them; drafts are none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fleet/model/release_watch.h"

namespace fleet {

struct IndexedRelease {
  FoundRelease release = {};
  std::vector<std::string> manifests = {};  // URLs; signatures are behind `.minisig`

  bool operator==(const IndexedRelease&) const = default;
};

// The URL at which a setting's source is asked: `github:OWNER/NAME` is GitHub's API.
[[nodiscard]] std::string url_of_source(std::string_view source);

// Refused: it is no index. A release without manifests is left out.
[[nodiscard]] agent_protocol::Result<std::vector<IndexedRelease>> parse_index(
    std::string_view source, std::string_view text);

}  // namespace fleet
