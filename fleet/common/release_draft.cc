#include "fleet/common/release_draft.h"

#include <algorithm>

#include "agent-releases/manifest.h"
#include "base/sha256.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

// Returns the name that all manifests of this component must contain.
std::string_view name_for(std::string_view component) {
  return component == "agent" ? "fleet-agent" : component;
}

}  // namespace

std::string release_digest(const Release& release) {
  agent_releases::Hash hash;
  for (const ReleaseManifest& manifest : release.manifests) {
    for (const std::string& part : {manifest.arch, manifest.manifest, manifest.signature}) {
      hash.add(std::to_string(part.size()) + ":" + part);
    }
  }
  return hash.digits();
}

std::string ReleaseDraft::add(const std::string& text, const std::string& signature,
                              const std::string& url) {
  const auto manifest = agent_releases::parse_manifest(text);
  if (!manifest) return manifest.reason();
  if (signature.empty()) return "is not signed, and no node takes what is not signed";
  const std::string version = manifest.value().version.text();
  if (!version_.empty() && version_ != version) {
    return "is of " + version + ", not of " + version_;
  }
  if (!version_.empty() && name_ != manifest.value().name) {
    return "is of " + manifest.value().name + ", not of " + name_;
  }
  version_ = version;
  name_ = manifest.value().name;
  release_.prerelease = manifest.value().version.is_prerelease();
  release_.min_protocol = std::max(release_.min_protocol, manifest.value().min_protocol);
  release_.manifests.push_back(
      {.arch = manifest.value().arch, .manifest = text, .signature = signature, .url = url});
  return "";
}

agent_protocol::Result<Release> ReleaseDraft::release(std::string_view component) const {
  if (release_.manifests.empty()) return agent_protocol::Refusal{"a release has a manifest"};
  const std::string_view name = name_for(component);
  if (name_ != name) {
    return agent_protocol::Refusal{"the manifest is of " + name_ + ", and that of " +
                                   std::string(component) + " is of " + std::string(name)};
  }
  Release release = release_;
  std::sort(release.manifests.begin(), release.manifests.end(),
            [](const auto& one, const auto& other) { return one.arch < other.arch; });
  for (std::size_t i = 1; i < release.manifests.size(); ++i) {
    if (release.manifests[i].arch == release.manifests[i - 1].arch) {
      return agent_protocol::Refusal{"two manifests are for " + release.manifests[i].arch};
    }
  }
  release.digest = release_digest(release);
  // A published record is never changed, so make sure now that it can be parsed.
  const auto read = read_record<Release>(write_record(release));
  if (!read) return agent_protocol::Refusal{"its record " + read.reason()};
  return release;
}

}  // namespace fleet
