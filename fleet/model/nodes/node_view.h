// This file groups the records of a cell by node. If a record is damaged, its fault is noted, and
// the other records of the node are still used.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/desired/desired_view.h"
#include "fleet/model/nodes/target.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

struct NodeView {
  std::string id = {};
  // The record node/ID/info, with labels changed by the node's identity: see take_given().
  NodeInfo info = {};
  Versions versions = {};
  std::map<std::string, Instance> instances = {};  // the living processes of fleet-agent, by id
  Active active = {};
  std::map<std::string, Upgrade> upgrades = {};  // the last upgrade of each component
  // The health that the node reported last, for each component.
  std::map<std::string, NodeHealth> healths = {};
  // The node's own desired version of each component. The version is empty if the record is
  // damaged.
  std::map<std::string, Seen<Desired>> desired = {};
  // The claim on each component, which names the rollout or person that changes the component's
  // version now: `rollout/NAME` or `command/PERSON`. Empty if the record is damaged.
  std::map<std::string, std::string> claims = {};
  std::map<std::string, std::string> damage = {};  // the fault of each damaged record, by its key

  [[nodiscard]] bool reports() const { return !instances.empty(); }
  // Returns why the node is degraded, or an empty string if it is not.
  [[nodiscard]] std::string degraded() const;

  // Adds the labels from the record of the node's identity to `info`. A label there replaces the
  // label of the same name that the node itself reports.
  void take_given(const std::map<std::string, std::string>& labels);

  // Stores a record of this node (take), or removes it from this view (take_absent).
  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key, std::string_view text);

  std::map<std::string, std::string> given = {};     // the labels in the node's identity
  std::map<std::string, std::string> reported = {};  // the labels that the node reports
};

// Converts the node's records to a DesiredNode, from which desired_decision.h decides. Only the
// record of the node's own desired version has its real revision. Every other record that exists
// has the revision 1.
[[nodiscard]] DesiredNode desired_node(const NodeView& node, const std::string& component);

// Returns the phase as a text for people: its name in records, or a longer text if that name says
// too little.
[[nodiscard]] std::string words_of(UpgradePhase phase);

// Returns all nodes in the order of their names.
[[nodiscard]] std::vector<NodeView> nodes_in(const Reading& reading);

// Returns the nodes that run a newer version of the component than `version`, such as `n1 (2.1.0),
// n2 (2.1.0)`. Returns an empty string if there are none.
[[nodiscard]] std::string who_runs_newer(const std::vector<NodeView>& nodes,
                                         const std::string& component, const std::string& version);

// Returns the time since which the new version `version` of a silent node has been ready and has
// waited to be activated. Returns no value if the version does not wait, or if the node still
// reports.
[[nodiscard]] std::optional<std::string> silent_at_gate_since(const NodeView& node,
                                                              const std::string& component,
                                                              const std::string& version);
// Returns a message about these nodes: `these nodes do not report, and their new version waits to
// be activated: n1 (since TIME)`. `silent` has the time that silent_at_gate_since() has returned
// for each of them.
[[nodiscard]] std::string silent_at_gates(const std::map<std::string, std::string>& silent);

// Returns one node, or all nodes, in the form that select_nodes() (target.h) needs.
[[nodiscard]] TargetNode target_node(const NodeView& node);
[[nodiscard]] std::vector<TargetNode> target_nodes(const std::vector<NodeView>& nodes);

// Returns whether the keys of this kind begin with `node/ID/`.
[[nodiscard]] bool is_of_node(KeyKind kind);

}  // namespace fleet
