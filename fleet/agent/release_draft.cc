#include "fleet/agent/release_draft.h"

#include <algorithm>

#include "fleet/agent/release_digest.h"
#include "node/releases/core/manifest.h"

namespace fleet {

std::string ReleaseDraft::add(const std::string& text, const std::string& signature,
                              const std::string& url) {
  const auto manifest = agent_releases::parse_manifest(text);
  if (!manifest) return manifest.reason();
  const std::string version = manifest.value().version.text();
  if (!version_.empty() && version_ != version) {
    return "is of " + version + ", not of " + version_;
  }
  version_ = version;
  release_.prerelease = manifest.value().version.is_prerelease();
  release_.min_protocol = std::max(release_.min_protocol, manifest.value().min_protocol);
  release_.manifests.push_back(
      {.arch = manifest.value().arch, .manifest = text, .signature = signature, .url = url});
  return "";
}

agent_protocol::Result<Release> ReleaseDraft::release() const {
  Release release = release_;
  std::sort(release.manifests.begin(), release.manifests.end(),
            [](const auto& one, const auto& other) { return one.arch < other.arch; });
  for (std::size_t i = 1; i < release.manifests.size(); ++i) {
    if (release.manifests[i].arch == release.manifests[i - 1].arch) {
      return agent_protocol::Refusal{"two manifests are for " + release.manifests[i].arch};
    }
  }
  release.digest = release_digest(release);
  return release;
}

}  // namespace fleet
