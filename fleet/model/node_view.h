// Sorts the records of a cell by node. Damaged records are named, and hide no other record.
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
  NodeInfo info = {};  // with all labels: those of its identity win over those that it reports
  Versions versions = {};
  std::map<std::string, Instance> instances = {};  // the instances that live
  Active active = {};
  std::map<std::string, Upgrade> upgrades = {};    // for each component how far its upgrade is
  std::map<std::string, std::string> damage = {};  // for each key the fault in its record

  [[nodiscard]] bool reports() const { return !instances.empty(); }
  // Returns why the node is degraded, or an empty text if it is not.
  [[nodiscard]] std::string degraded() const;

  // Takes the labels in the node's identity.
  void take_given(const std::map<std::string, std::string>& labels);

  // Takes in a record of this node, or the news that the record is absent.
  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key, std::string_view text);

  std::map<std::string, std::string> given = {};     // the labels in its identity
  std::map<std::string, std::string> reported = {};  // the labels that it reports
};

// Returns all nodes in the order of their names.
[[nodiscard]] std::vector<NodeView> nodes_in(const Reading& reading);

// Returns the nodes that run a newer version of the component: `n1 (2.1.0), n2 (2.1.0)`. Returns an
// empty text if none does.
[[nodiscard]] std::string who_runs_newer(const std::vector<NodeView>& nodes,
                                         const std::string& component, const std::string& version);

// Returns the nodes in the form that select_nodes() takes.
[[nodiscard]] std::vector<TargetNode> target_nodes(const std::vector<NodeView>& nodes);

// Returns whether the key is of a node's record; the first name in such a key is the node's.
[[nodiscard]] bool is_of_node(KeyKind kind);

}  // namespace fleet
