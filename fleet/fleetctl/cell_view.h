// What was read of a cell, node by node, for people. Pure: damaged records are named, not dropped.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fleet/model/node_records.h"
#include "fleet/model/target.h"
#include "fleet/model/transaction.h"

namespace fleetctl {

struct NodeView {
  std::string id = {};
  fleet::NodeInfo info = {};
  fleet::Versions versions = {};
  std::map<std::string, fleet::Instance> instances = {};  // that live
  fleet::Active active = {};
  std::map<std::string, fleet::Upgrade> upgrades = {};  // component: how far
  std::vector<std::string> damaged = {};                // in words

  [[nodiscard]] bool reports() const { return !instances.empty(); }
  // Why it is degraded; empty: it is not.
  [[nodiscard]] std::string degraded() const;
};

// In the order of their names.
[[nodiscard]] std::vector<NodeView> nodes_in(const fleet::Reading& reading);

[[nodiscard]] std::vector<std::string> node_table(const std::vector<NodeView>& nodes);
[[nodiscard]] std::vector<std::string> node_page(const NodeView& node);
[[nodiscard]] std::vector<std::string> version_table(const std::vector<NodeView>& nodes);

// As select_nodes() wants them.
[[nodiscard]] std::vector<fleet::TargetNode> target_nodes(const std::vector<NodeView>& nodes);

// The records as they are, below their keys without the root: one JSON object.
[[nodiscard]] std::string as_json(const fleet::Reading& reading);

}  // namespace fleetctl
