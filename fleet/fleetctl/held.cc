#include "fleet/fleetctl/held.h"

#include <ctime>

#include "fleet/common/zone_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/identities.h"
#include "fleet/model/keys.h"

namespace fleetctl {

using fleet::KeyKind;

// Reads the records of nodes, of which there may be thousands, only if the cell has windows.
std::variant<fleet::Held, int> find_held(Asker& asker, const fleet::Rollout& rollout,
                                         const fleet::Reading& reading) {
  const fleet::ToBegin what = to_begin(rollout, reading);
  std::vector<std::string> keys{fleet::key_of(KeyKind::stop), fleet::prefix_of(KeyKind::window)};
  auto reply = read_keys(asker, keys);
  const auto* cell = std::get_if<fleet::Reading>(&reply);
  if (cell != nullptr && !cell->found.empty() && !what.nodes.empty()) {
    keys.push_back(fleet::prefix_of(KeyKind::node_info));
    keys.push_back(fleet::node_identities());
    reply = read_keys(asker, keys);
    cell = std::get_if<fleet::Reading>(&reply);
  }
  if (cell == nullptr) return unreachable(std::get<fleet::Trouble>(reply));
  return held_back(what, *cell, std::time(nullptr), fleet::zone_of);
}

}  // namespace fleetctl
