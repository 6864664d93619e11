// This file helps people to find out why nodes fail.
//
// For one rollout, the file groups the failures: nodes that failed in the same way form one group,
// however many they are. For each group, it names the facts and labels by which the group's nodes
// differ from the other nodes that the rollout has reached. It also collects the rollout's nodes
// from the records, and writes the groups as JSON, for `fleetctl why` and for the web page.
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

#include "fleet/model/keys.h"
#include "fleet/model/node_records.h"
#include "fleet/model/rollout_records.h"
#include "fleet/model/transaction.h"

namespace fleet {

// A node of a rollout. `marks` has the node's facts and labels: each key is the name of a fact or
// label, such as `arch`, and the value is that of the node, such as `x86_64`.
struct NodeOfRollout {
  RolloutNode record = {};
  std::map<std::string, std::string> marks = {};
};
using NodesOfRollout = std::map<std::string, NodeOfRollout>;

// The most suspects (possible causes) that are named for one group of failures. The suspects that
// distinguish the group best come first.
inline constexpr std::size_t suspects_max = 3;

// A possible cause of the failures in a group: a value of a fact or a label that nearly all nodes
// of the group have, and few other nodes have.
struct Suspect {
  std::string mark = {};    // the fact or label and its value: `arch=x86_64`
  std::int64_t failed = 0;  // how many nodes of the group have this mark
  // Two counts of the nodes that the rollout has reached, but that are not in the group: `others`
  // is how many of them have this mark, and `others_in_all` is their total number.
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

// Returns whether the node's upgrade failed, was rolled back because no `confirm` came
// (`unconfirmed`), or could not be undone (`kept`).
[[nodiscard]] bool has_failed(const RolloutNode& node);

// Returns the groups of failed nodes, the largest first. Failures are in one group if their stage,
// exit status and signal are equal, and their errors differ only in numbers, ids and the node's
// name.
[[nodiscard]] std::vector<FailureGroup> failure_groups(const NodesOfRollout& nodes);

// Returns an error with each number replaced by `#` and the node's name by `NODE`, so that errors
// of different nodes can be compared. Keeps a number after `status`, `signal` or `http:`, since it
// distinguishes failures.
[[nodiscard]] std::string likeness(std::string_view words, std::string_view node);

// Returns the nodes of this rollout. Each node has the facts and labels for which `reading` has
// records.
[[nodiscard]] NodesOfRollout nodes_of_rollout(const Reading& reading, const std::string& rollout);

// Returns the groups as one JSON object.
[[nodiscard]] std::string failures_json(const std::vector<FailureGroup>& groups);

// ---- a degraded node

// Names, for a node that has become degraded, each rollout that may be the cause. Such a rollout
// bakes (all its batches are done, but it is still being judged), and the node has kept the
// rollout's new version. Adds how many of the rollout's nodes are degraded or have failed, and how
// many of all other nodes are degraded, so that a person sees whether the rollout is to blame.
class BakeSuspects {
 public:
  // Updates what is known about nodes, from a written or erased record of a rollout, of a node in a
  // rollout, or of an instance. Ignores all other records.
  void take(const ParsedKey& key, const KeyValue& record);
  void take_absent(const ParsedKey& key);

  // Returns a string such as `; maybe by rollout r1 (agent 1.1.0), which bakes: 3 of its 40 nodes
  // do badly, 1 of 60 others` for each rollout that may be the cause, or an empty string if there
  // is none.
  [[nodiscard]] std::string words(const std::string& node) const;

 private:
  struct Watched {
    std::string what = {};  // component and version: `agent 1.1.0`
    bool bakes = false;
    std::map<std::string, NodeStage> nodes = {};
  };

  [[nodiscard]] bool does_badly(const std::string& node) const;

  // The rollouts that are under way. Those that have ended are forgotten.
  std::map<std::string, Watched> rollouts_;
  // For each node, its living processes of fleet-agent, by id. The value is true if the process
  // reports that the node is degraded.
  std::map<std::string, std::map<std::string, bool>> nodes_;
};

// The beginning of each text that BakeSuspects::words() returns, unless that text is empty. Other
// code searches for it in the text of an event, to find where the list of rollouts begins.
inline constexpr const char* suspects_mark = "; maybe by rollout ";

}  // namespace fleet
