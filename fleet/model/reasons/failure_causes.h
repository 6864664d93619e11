// This file helps people to find out why nodes fail.
//
// For one rollout, the file groups the failures: nodes that failed in the same way form one group.
// For each group, the file names the facts and labels by which the group's nodes differ from the
// other nodes that the rollout has reached. The file also collects the rollout's nodes from the
// records, and writes the groups as JSON, for `fleetctl why` and for the web page.
//
// For a node that has become degraded, the file names each rollout that may be the cause
// (BakeSuspects). This file does no input or output.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// A node of a rollout. `marks` has the facts and labels of the node, such as `x86_64` for the fact
// `arch`.
struct NodeOfRollout {
  RolloutNode record = {};
  std::map<std::string, std::string> marks = {};
};
using NodesOfRollout = std::map<std::string, NodeOfRollout>;

// The most suspects (possible causes) that are named for one group of failures. If there are more,
// those that distinguish the group best are named.
inline constexpr std::size_t suspects_max = 3;

// A possible cause of the failures in a group: a value of a fact or a label that nearly all nodes
// of the group have, and few other nodes have.
struct Suspect {
  std::string mark = {};    // the fact or label and its value: `arch=x86_64`
  std::int64_t failed = 0;  // how many nodes of the group have this mark
  // The nodes that the rollout has reached, but that are not in the group: `others_in_all` counts
  // all of them, and `others` those that have this mark.
  std::int64_t others = 0;
  std::int64_t others_in_all = 0;

  bool operator==(const Suspect&) const = default;
};

struct FailureGroup {
  NodeStage stage = NodeStage::failed;
  std::string error = {};               // the error of the group's first node
  std::vector<Capsule> evidence = {};   // the evidence of the group's first node that has any
  std::vector<std::string> nodes = {};  // the names of the group's nodes, sorted
  std::vector<Suspect> suspects = {};
  // True if all nodes that the rollout has reached are in this group. Then the version itself is
  // probably at fault.
  bool is_everybody = false;

  bool operator==(const FailureGroup&) const = default;
};

// Returns whether the node's upgrade failed, was rolled back because the node got no `confirm`
// (`unconfirmed`), or could not be undone (`kept`).
[[nodiscard]] bool has_failed(const RolloutNode& node);

// Returns the groups of failed nodes, the largest first. Two failures are in one group if their
// stages, exit statuses and signals are equal, and their errors differ only in numbers, ids and the
// node's name.
[[nodiscard]] std::vector<FailureGroup> failure_groups(const NodesOfRollout& nodes);

// Returns the error `words` with `#` instead of each number, and `NODE` instead of the node's name,
// so that the errors of different nodes can be compared. A number after `status`, `signal` or
// `http:` is kept, since it distinguishes failures.
[[nodiscard]] std::string likeness(std::string_view words, std::string_view node);

// Returns the nodes of this rollout, with those of their facts and labels that have records in
// `reading`.
[[nodiscard]] NodesOfRollout nodes_of_rollout(const Reading& reading, const std::string& rollout);

// Returns the groups as one JSON object.
[[nodiscard]] std::string failures_json(const std::vector<FailureGroup>& groups);

// ---- a degraded node

// Names the rollouts that may be the cause when a node has become degraded. Such a rollout bakes
// (all its batches are done, but it may still be aborted), and the node has kept the rollout's new
// version. For each such rollout, the class counts how many of its nodes are degraded or have
// failed, and how many of all other nodes are degraded. From these counts a person sees whether the
// rollout is to blame.
class BakeSuspects {
 public:
  // These two functions handle a written and an erased record. They use only the records of
  // rollouts, of nodes in rollouts, and of instances (processes of fleet-agent), and ignore all
  // other records.
  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key);

  // Returns a string for each rollout that may be the cause, such as `; maybe by rollout r1 (agent
  // 1.1.0), which bakes: 3 of its 40 nodes do badly, 1 of 60 others`. Returns an empty string if
  // there is no such rollout.
  [[nodiscard]] std::string words(const std::string& node) const;

 private:
  struct Watched {
    std::string what = {};  // component and version: `agent 1.1.0`
    bool bakes = false;
    std::map<std::string, NodeStage> nodes = {};
  };

  [[nodiscard]] bool does_badly(const std::string& node) const;

  // The rollouts that have not ended.
  std::map<std::string, Watched> rollouts_;
  // For each node, its running processes of fleet-agent, by id. The value is true if the process
  // reports that the node is degraded.
  std::map<std::string, std::map<std::string, bool>> nodes_;
};

// The beginning of each text from BakeSuspects::words(), except the empty text. Other code searches
// for this beginning in the text of an event, to find where the list of rollouts begins.
inline constexpr const char* suspects_mark = "; maybe by rollout ";

}  // namespace fleet
