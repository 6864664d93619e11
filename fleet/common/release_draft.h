// Makes the record of a release from the release's manifests, one for each architecture. A release
// that a person publishes, with fleetctl or by HTTP, is checked in the same way as a release that a
// source of releases offers. Does no input or output.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/cell_records.h"

namespace fleet {

// Returns the digest of a release: the SHA-256 of all its manifests with their architectures and
// signatures, in the order in which the release lists them. The record of a desired version
// contains this digest, so that nobody can replace the release by another release with the same
// version.
[[nodiscard]] std::string release_digest(const Release& release);

class ReleaseDraft {
 public:
  // Adds a manifest, which was found at the URL `url`, and its signature. Returns an empty string
  // on success, or else why the manifest is refused.
  [[nodiscard]] std::string add(const std::string& manifest, const std::string& signature,
                                const std::string& url);

  [[nodiscard]] const std::string& version() const { return version_; }
  // Returns the record of the release, and the digest of all its manifests. Returns a Refusal if
  // there is no manifest, if two manifests are for the same architecture, or if a manifest belongs
  // to another component.
  [[nodiscard]] agent_protocol::Result<Release> release(std::string_view component) const;

 private:
  Release release_ = {};
  std::string version_ = {};
  std::string name_ = {};
};

}  // namespace fleet
