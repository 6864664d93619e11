// Makes the record of a release from the release's manifests, one for each architecture, and checks
// them. A person may publish a release by fleetctl or by HTTP, and a controller may publish one
// from a source of releases. This file does no input or output.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/records/cell_records.h"

namespace fleet {

// Returns the digest of a release: the SHA-256 of all its manifests with their architectures and
// signatures, in the order in which the release lists them. Each record that orders a version, such
// as a desired version, contains the digest, so that no node accepts another release with the same
// version.
[[nodiscard]] std::string release_digest(const Release& release);

class ReleaseDraft {
 public:
  // Adds the manifest from the URL `url`, and its signature. Returns why the manifest is refused,
  // or an empty string on success.
  [[nodiscard]] std::string add(const std::string& manifest, const std::string& signature,
                                const std::string& url);

  [[nodiscard]] const std::string& version() const { return version_; }
  // Returns the record of the release. Returns a Refusal if there is no manifest, if the manifests
  // belong to another component, if two are for the same architecture, or if the record cannot be
  // parsed.
  [[nodiscard]] agent_protocol::Result<Release> release(std::string_view component) const;

 private:
  Release release_ = {};
  std::string version_ = {};
  std::string name_ = {};
};

}  // namespace fleet
