// Fetches a release's manifest and the signature of the manifest. Verifies the signature, and
// decides whether the release may be added to the directory now. download.h fetches the release's
// own bytes.
#pragma once

#include <string>

#include "agent-releases/manifest.h"
#include "agent-releases/releases.h"
#include "tools/agent-releases/shell/fetch.h"
#include "tools/agent-releases/shell/store.h"

namespace agent_releases {

struct Publication {
  Manifest manifest;
  std::string text;       // the manifest's text, as it was signed
  std::string signature;  // the text of the signature; empty if no keys were given
  std::string trusted_comment;
  std::string url;  // the URL of the manifest
};

// Fetches and checks a manifest. Refuses if the release may not be added to this directory now.
[[nodiscard]] Result<Publication> fetch_publication(const Store& store,
                                                    const Releases::Adding& adding,
                                                    Fetcher& fetcher);

}  // namespace agent_releases
