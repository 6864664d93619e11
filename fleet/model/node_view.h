// This file groups the records of a cell by node. A damaged record is listed with its fault, and
// the other records of the node are still used.
#pragma once

#include <map>
#include <optional>
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
  // The node's record node/ID/info. Labels in the node's identity override the labels in this
  // record.
  NodeInfo info = {};
  Versions versions = {};
  std::map<std::string, Instance> instances = {};  // the living processes of fleet-agent, by id
  Active active = {};
  std::map<std::string, Upgrade> upgrades = {};  // by component, the record of its last upgrade
  // The health that the node reported last, for each component.
  std::map<std::string, NodeHealth> healths = {};
  std::map<std::string, std::string> damage = {};  // the fault of each damaged record, by its key

  [[nodiscard]] bool reports() const { return !instances.empty(); }
  // Returns why the node is degraded, or an empty string if it is not.
  [[nodiscard]] std::string degraded() const;

  // Notes the labels from the record of the node's identity. They override labels of the same name
  // that the node itself reports.
  void take_given(const std::map<std::string, std::string>& labels);

  // Stores a record of this node, or notes that the node has no record at this key.
  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key, std::string_view text);

  std::map<std::string, std::string> given = {};     // the labels in the node's identity
  std::map<std::string, std::string> reported = {};  // the labels that the node reports
};

// Returns the phase of an upgrade as people are told of it. It is the name of the phase in records,
// or plain words if that name says too little.
[[nodiscard]] std::string words_of(UpgradePhase phase);

// Returns all nodes in the order of their names.
[[nodiscard]] std::vector<NodeView> nodes_in(const Reading& reading);

// Returns the nodes that run a newer version of the component than `version`, such as `n1 (2.1.0),
// n2 (2.1.0)`. Returns an empty string if there are none.
[[nodiscard]] std::string who_runs_newer(const std::vector<NodeView>& nodes,
                                         const std::string& component, const std::string& version);

// Returns the time at which the node's upgrade to `version` came to its gate, where the new version
// is ready and waits to be activated. Returns no value if the node reports, or if its upgrade is
// not at its gate.
[[nodiscard]] std::optional<std::string> silent_at_gate_since(const NodeView& node,
                                                              const std::string& component,
                                                              const std::string& version);
// Returns a message about nodes that do not report while their upgrades are at their gates: `these
// nodes do not report, and their new version waits to be activated: n1 (since TIME)`. For each of
// these nodes, `silent` has the time that silent_at_gate_since() has returned.
[[nodiscard]] std::string silent_at_gates(const std::map<std::string, std::string>& silent);

// Returns the nodes in the form that select_nodes() (target.h) needs.
[[nodiscard]] std::vector<TargetNode> target_nodes(const std::vector<NodeView>& nodes);

// Returns whether the keys of this kind begin with `node/ID/`, so that their first name is a node's
// id.
[[nodiscard]] bool is_of_node(KeyKind kind);

}  // namespace fleet
