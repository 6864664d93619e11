#include "fleet/common/release_digest.h"

#include "base/sha256.h"

namespace fleet {

std::string release_digest(const Release& release) {
  agent_releases::Hash hash;
  for (const ReleaseManifest& manifest : release.manifests) {
    for (const std::string& part : {manifest.arch, manifest.manifest, manifest.signature}) {
      hash.add(std::to_string(part.size()) + ":" + part);
    }
  }
  return hash.digits();
}

}  // namespace fleet
