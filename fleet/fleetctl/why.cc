// fleetctl why: shows why nodes of a rollout failed.
#include "fleet/fleetctl/why_view.h"

#include <algorithm>

#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/failure_view.h"
#include "fleet/model/identities.h"
#include "fleet/model/keys.h"

namespace fleetctl {

using fleet::KeyKind;

int show_why(const Options& options, Asker& asker) {
  const std::string key = fleet::key_of(KeyKind::rollout, {options.rollout});
  const auto reply = read_keys(
      asker,
      {key, fleet::key_below(key), fleet::prefix_of(KeyKind::node_info), fleet::node_identities()});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  if (reading.find(key) == nullptr) return refuse(options.rollout + ": no such rollout");
  const auto nodes = nodes_of_rollout(reading, options.rollout);
  std::vector<fleet::FailureGroup> groups = failure_groups(nodes);
  if (!options.node.empty()) {
    if (!nodes.contains(options.node)) {
      return refuse(options.node + ": nothing was ordered of it in " + options.rollout);
    }
    std::erase_if(groups, [&options](const fleet::FailureGroup& group) {
      return !std::binary_search(group.nodes.begin(), group.nodes.end(), options.node);
    });
    // Shows the evidence of the node that was asked for. Without this, its group would show the
    // evidence of the group's first node.
    for (fleet::FailureGroup& group : groups) {
      group.error = nodes.at(options.node).record.error;
      group.evidence = nodes.at(options.node).record.evidence;
    }
  }
  if (options.json) {
    say_json(failures_json(groups));
    return exit_done;
  }
  if (groups.empty() && !options.node.empty()) {
    say(options.node + ": has not failed");
  } else {
    say_all(why_page(groups));
  }
  return exit_done;
}

}  // namespace fleetctl
