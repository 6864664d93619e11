#include "node/releases/core/admission.h"

#include <algorithm>

#include "agent-releases/processor.h"

namespace agent_releases {
namespace {

Outcome admit_time(const Manifest& manifest, const Circumstances& here) {
  if (!manifest.expires) return std::monostate{};
  if (here.known && here.now < *here.known) {
    return Refusal{"its manifest expires, and whether it has cannot be known: the clock says " +
                   to_text(here.now) + ", and the ledger's last entry is of " +
                   to_text(*here.known) + "; set the clock"};
  }
  if (here.now >= *manifest.expires) {
    return Refusal{"its manifest has expired, at " + to_text(*manifest.expires)};
  }
  return std::monostate{};
}

void take_if_newer(std::optional<Present>& newest, const Version& version, std::string_view which) {
  if (!newest || newest->version < version) newest = Present{version, which};
}

bool has_failed_last(const std::vector<Entry>& ledger, const Version& version) {
  const auto last = std::find_if(ledger.rbegin(), ledger.rend(),
                                 [&](const Entry& entry) { return entry.version == version; });
  return last != ledger.rend() && last->ending == Ending::failed;
}

}  // namespace

std::optional<Present> present_version(const Versions& versions, const std::vector<Entry>& ledger) {
  std::optional<Present> newest;
  if (versions.current) take_if_newer(newest, *versions.current, "the current one");
  if (versions.running) take_if_newer(newest, *versions.running, "the running one");
  if (newest) return newest;
  for (const Entry& entry : ledger) {
    if (entry.ending != Ending::committed) continue;
    take_if_newer(newest, entry.version, "the newest one that has run");
  }
  if (newest) return newest;
  for (const Version& version : versions.there) {
    if (version.is_prerelease() || has_failed_last(ledger, version)) continue;
    take_if_newer(newest, version, "the newest one that is there");
  }
  return newest;
}

Outcome admit(const Manifest& manifest, const Circumstances& here) {
  if (manifest.name != here.name) {
    return Refusal{"it is a release of " + manifest.name + ", and this directory is for " +
                   here.name};
  }
  if (!is_for_processor(manifest.arch, here.processor)) {
    return Refusal{"it is for " + manifest.arch + ", and the programs of this machine are for " +
                   here.processor};
  }
  if (manifest.min_protocol > protocol_spoken) {
    return Refusal{"it needs agent protocol " + std::to_string(manifest.min_protocol) +
                   ", and this machine's is " + std::to_string(protocol_spoken)};
  }
  if (const Outcome in_time = admit_time(manifest, here); !in_time) return in_time;
  if (here.present && manifest.version < here.present->version && !here.older_is_wanted) {
    return Refusal{"version " + manifest.version.text() + " is older than " +
                   std::string(here.present->which) + ", " + here.present->version.text() +
                   "; if that is meant, say --older"};
  }
  return std::monostate{};
}

}  // namespace agent_releases
