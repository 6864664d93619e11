#include "fleet/fleetctl/going_down.h"

#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleetctl {
namespace {

using fleet::KeyKind;

// A pinned node does not go where the cell goes.
bool is_pinned(const fleet::Reading& reading, const std::string& node,
               const std::string& component) {
  const auto* found = reading.find(fleet::key_of(KeyKind::node_desired, {node, component}));
  const auto wish = fleet::read_record<fleet::Desired>(found == nullptr ? "{}" : found->value);
  return wish && wish.value().pinned;
}

}  // namespace

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
  const std::string below =
      node.empty() ? fleet::prefix_of(KeyKind::node_info) : fleet::node_prefix(node);
  const auto reply = asker.read({below, true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  auto nodes = fleet::nodes_in(reading);
  if (node.empty()) {
    std::erase_if(nodes, [&](const auto& one) { return is_pinned(reading, one.id, component); });
  }
  return look_for_newer(nodes, component, version);
}

}  // namespace fleetctl
