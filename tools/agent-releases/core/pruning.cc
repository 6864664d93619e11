#include "tools/agent-releases/core/pruning.h"

#include <algorithm>

namespace agent_releases {

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

}  // namespace agent_releases
