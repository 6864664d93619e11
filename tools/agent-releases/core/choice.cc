#include "tools/agent-releases/core/choice.h"

#include <algorithm>

namespace agent_releases {
namespace {

bool is_wanted(const Candidate& release, const std::optional<Wish>& wish, const Version& running) {
  if (wish) return release.version == wish->version && release.version != running;
  return !release.version.is_prerelease() && release.version > running;
}

// Returns the reason why a release is not tried again. `last` is the newest entry about the release
// in the ledger (the record of upgrades).
std::string why_not_again(const Entry& last) {
  const std::string fate =
      last.ending == Ending::failed
          ? "it failed at " + to_text(last.when) + ", stage " + last.stage + ": " + last.reason
          : "it was tried at " + to_text(last.when) +
                ", and how the upgrade ended was not recorded";
  return fate + "; it is not tried again until `forget` or `desire` allows it";
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

std::vector<LeftOut> left_out(const std::vector<Candidate>& releases,
                              const std::optional<Wish>& wish, const Version& running,
                              const std::vector<Entry>& ledger) {
  const auto writing = wish ? std::optional(wish->writing) : std::nullopt;
  std::vector<LeftOut> left;
  bool is_there = false;
  for (const Candidate& release : releases) {
    is_there = is_there || (wish && release.version == wish->version);
    if (!is_wanted(release, wish, running) ||
        !has_failed(ledger, release.version, release.sha256, running, writing)) {
      continue;
    }
    const Entry* last = last_of(ledger, release.version, release.sha256);
    left.push_back({release.version, why_not_again(*last)});
  }
  if (wish && wish->version && !is_there) {
    left.push_back({*wish->version, "it is desired, but is not in the directory"});
  }
  return left;
}

std::vector<Version> choose_to_prune(std::vector<Holding> holdings, const Bounds& bounds) {
  std::ranges::sort(holdings, std::ranges::less{}, &Holding::version);
  const std::size_t spare = holdings.size() - std::min(bounds.keep, holdings.size());
  std::vector<Version> pruned;
  for (std::size_t i = 0; i < spare; ++i) {
    const Holding& holding = holdings[i];
    if (holding.needed || (bounds.before && holding.added >= *bounds.before)) continue;
    pruned.push_back(holding.version);
  }
  return pruned;
}

std::vector<Version> choose_to_make_room(std::vector<Holding> holdings, std::size_t most) {
  std::ranges::sort(holdings, std::ranges::less{}, &Holding::version);
  std::vector<Version> removed;
  for (const Holding& holding : holdings) {
    if (holdings.size() - removed.size() <= most) break;
    if (!holding.needed) removed.push_back(holding.version);
  }
  return removed;
}

}  // namespace agent_releases
