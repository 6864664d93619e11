#include "fleet/fleetctl/going_down.h"

#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/model/keys.h"

namespace fleetctl {

int look_for_newer(const std::vector<fleet::NodeView>& nodes, const std::string& component,
                   const std::string& version) {
  const std::string newer = fleet::who_runs_newer(nodes, component, version);
  if (newer.empty()) return exit_done;
  complain(component + " " + version + " is older than what runs on " + newer +
           "; if that is meant, say --downgrade");
  return exit_refused;
}

int look_for_newer(Asker& asker, const std::string& node, const std::string& component,
                   const std::string& version) {
  const auto reply = asker.read({fleet::node_prefix(node), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  return look_for_newer(fleet::nodes_in(std::get<fleet::Reading>(reply)), component, version);
}

}  // namespace fleetctl
