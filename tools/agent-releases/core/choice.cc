#include "tools/agent-releases/core/choice.h"

namespace agent_releases {
namespace {

bool is_wanted(const Candidate& release, const std::optional<Wish>& wish, const Version& running) {
  if (wish) return release.version == wish->version && release.version != running;
  return !release.version.is_prerelease() && release.version > running;
}

}  // namespace

std::optional<std::size_t> choose(const std::vector<Candidate>& releases,
                                  const std::optional<Wish>& wish, const Version& running,
                                  const std::vector<Entry>& ledger) {
  const auto writing = wish ? std::optional(wish->writing) : std::nullopt;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < releases.size(); ++i) {
    const Candidate& release = releases[i];
    if (!is_wanted(release, wish, running)) continue;
    if (best && release.version < releases[*best].version) continue;
    if (!has_failed(ledger, release.version, release.sha256, running, writing)) best = i;
  }
  return best;
}

}  // namespace agent_releases
