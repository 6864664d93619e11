// Makes a release from its manifests, one for each architecture. The checks are the same whether a
// person publishes it by fleetctl or HTTP, or a source offers it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "fleet/model/cell_records.h"

namespace fleet {

// Returns the digest of a release: the SHA-256 of all its manifests and their signatures, in their
// order. The record of a desired version contains it, so that nobody can replace the desired
// release by another one.
[[nodiscard]] std::string release_digest(const Release& release);

class ReleaseDraft {
 public:
  // Adds the manifest at this URL. Returns why it is refused, or an empty text.
  [[nodiscard]] std::string add(const std::string& manifest, const std::string& signature,
                                const std::string& url);

  [[nodiscard]] const std::string& version() const { return version_; }
  // Returns the release with the digest of all its manifests. Returns a Refusal if there is no
  // manifest, if two are for the same architecture, or if they belong to another component.
  [[nodiscard]] agent_protocol::Result<Release> release(std::string_view component) const;

 private:
  Release release_ = {};
  std::string version_ = {};
  std::string name_ = {};
};

}  // namespace fleet
