#include "fleet/fleetctl/held.h"

#include <algorithm>
#include <ctime>

#include "fleet/common/zone_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/identities.h"
#include "fleet/model/keys.h"

namespace fleetctl {

using fleet::KeyKind;

namespace {

bool has_windows(const fleet::Reading& cell) {
  return std::ranges::any_of(cell.found, [](const fleet::KeyValue& found) {
    return found.key.starts_with(fleet::prefix_of(KeyKind::window));
  });
}

}  // namespace

// Reads the records of nodes, of which there may be thousands, only if the cell has windows.
std::variant<fleet::Held, int> find_held(Asker& asker, const std::string& id,
                                         const fleet::Rollout& rollout,
                                         const fleet::Reading& reading) {
  const fleet::ToBegin what = to_begin(rollout, reading);
  std::vector<std::string> keys{fleet::key_of(KeyKind::stop), fleet::prefix_of(KeyKind::window),
                                fleet::prefix_of(KeyKind::driver),
                                fleet::prefix_of(KeyKind::controller)};
  auto reply = read_keys(asker, keys);
  const auto* cell = std::get_if<fleet::Reading>(&reply);
  if (cell != nullptr && has_windows(*cell) && !what.nodes.empty()) {
    keys.push_back(fleet::prefix_of(KeyKind::node_info));
    keys.push_back(fleet::node_identities());
    reply = read_keys(asker, keys);
    cell = std::get_if<fleet::Reading>(&reply);
  }
  if (cell == nullptr) return unreachable(std::get<fleet::Trouble>(reply));
  const bool is_driven = rollout.state != fleet::RolloutState::created && !is_over(rollout.state);
  fleet::Held lack = is_driven ? undriven(id, *cell) : fleet::Held{};
  if (!lack.words.empty()) return lack;
  return held_back(what, *cell, std::time(nullptr), fleet::zone_of);
}

}  // namespace fleetctl
