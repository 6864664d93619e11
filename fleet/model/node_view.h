// The records of a cell, node by node. Damaged ones are named, and hide nothing else.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/keys.h"
#include "fleet/model/node_records.h"
#include "fleet/model/target.h"
#include "fleet/model/transaction.h"

namespace fleet {

struct NodeView {
  std::string id = {};
  NodeInfo info = {};
  Versions versions = {};
  std::map<std::string, Instance> instances = {};  // that live
  Active active = {};
  std::map<std::string, Upgrade> upgrades = {};    // component: how far
  std::map<std::string, std::string> damage = {};  // key: what is wrong with its record

  [[nodiscard]] bool reports() const { return !instances.empty(); }
  // Why it is degraded; empty: it is not.
  [[nodiscard]] std::string degraded() const;

  // A record of this node, or that its key is absent.
  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key, std::string_view text);
};

// In the order of their names.
[[nodiscard]] std::vector<NodeView> nodes_in(const Reading& reading);

// Those that run a newer version of the component: `n1 (2.1.0), n2 (2.1.0)`. An empty text if none
// does.
[[nodiscard]] std::string who_runs_newer(const std::vector<NodeView>& nodes,
                                         const std::string& component, const std::string& version);

// As select_nodes() wants them.
[[nodiscard]] std::vector<TargetNode> target_nodes(const std::vector<NodeView>& nodes);

// Whether the key is of a node's record: then the first of its names is the node's.
[[nodiscard]] bool is_of_node(KeyKind kind);

}  // namespace fleet
