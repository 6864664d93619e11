// Makes the record of a release from its manifests, one for each architecture, and checks them.
// fleetctl, the HTTP server and the controller's search for new releases all publish in this way.
// Does no input or output.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/records/cell_records.h"

namespace fleet {

// Returns the digest of a release: the SHA-256 of all its manifests with their architectures and
// signatures, in the release's order. Records that order a version contain the digest, so that no
// node accepts a different release of the same version.
[[nodiscard]] std::string release_digest(const Release& release);

class ReleaseDraft {
 public:
  // Adds the manifest from the URL `url`, and its signature. Returns why the manifest is refused,
  // or an empty string on success.
  [[nodiscard]] std::string add(const std::string& manifest, const std::string& signature,
                                const std::string& url);

  [[nodiscard]] const std::string& version() const { return version_; }
  // Returns the record of the release. Returns a Refusal if there is no manifest, one belongs to
  // another component, two are for the same architecture, or the record cannot be parsed.
  [[nodiscard]] agent_protocol::Result<Release> release(std::string_view component) const;

 private:
  Release release_ = {};
  std::string version_ = {};
  std::string name_ = {};
};

}  // namespace fleet
