// The records of a rollout: its terms, the nodes of each batch, and how far each node has come.
// This file contains only data structures; record_members_rollouts.h has the names that their
// members have in JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/node_records.h"

namespace fleet {

// The order in which a rollout upgrades its nodes.
enum class NodeOrder {
  unknown,
  name,
  random,  // the nodes are sorted by a hash of the seed and their names
};
constexpr auto names(NodeOrder) {
  return std::to_array<std::string_view>({"unknown", "name", "random"});
}

// Numbers in records are integers, so records have ratios and logarithms in millionths.
inline constexpr double million = 1e6;

// The default values of --alpha and --tolerate, in millionths.
inline constexpr std::int64_t alpha_default = 10'000;
inline constexpr std::int64_t tolerate_default = 1'000'000;

// The terms of a rollout: its options, as a person has chosen them. settle() (rollout_terms.h)
// fills in the terms that the person has not chosen.
struct RolloutTerms {
  std::string component = {};
  std::string version = {};
  std::string digest = {};
  std::string target = {};  // the expression that selects nodes
  std::int64_t batch = 1;   // how many nodes a batch has
  // The size of a batch as a percentage of all nodes. If not 0, this size is used instead of
  // `batch`.
  std::int64_t batch_percent = 0;
  std::int64_t canary = 0;  // the size of the first batch, if not 0
  std::int64_t soak_ms = 60'000;
  std::int64_t pause_ms = 0;
  std::int64_t max_failed = 1;
  // How long a node waits for the command `confirm` before it goes back. 0 stands for three times
  // soak_ms, but at least five minutes.
  std::int64_t confirm_ms = 0;
  std::int64_t min_protocol = 0;
  bool ignore_window = false;
  bool downgrade = false;
  // The sizes of the batches, as the option `--batches` gives them. If empty, `batch` and `canary`
  // are the sizes.
  std::string batches = {};
  NodeOrder order = NodeOrder::name;
  std::string seed = {};                // the seed for a random order of the nodes
  std::vector<std::string> apart = {};  // the values of `--apart`, each LABEL:LIMIT
  // The time over which the nodes of a batch begin a step, one after the other. With 0, all nodes
  // begin at the same time. With -1, the time depends on the size of the batch.
  std::int64_t spread_ms = 0;
  // True if neither --max-failed, --batch nor --canary was given. Then failures_to_abort() says how
  // many failures abort the rollout.
  bool max_failed_unsaid = false;
  bool undo = false;     // --undo: an automatic abort is followed by an undo
  bool no_undo = false;  // the release's manifest forbids an undo
  // How long a batch that has soaked waits for the verdicts of the judge and the gates. 0 stands
  // for soak_ms, but at least five minutes.
  std::int64_t judge_timeout_ms = 0;
  // The names of the gates, from --gate-prometheus or --gates.
  std::vector<std::string> gates = {};
  std::int64_t bake_ms = 0;  // the bake: how long the rollout is still judged after the last batch
  // --alpha: the largest probability that the judge stops a good version in this rollout.
  std::int64_t alpha_millionths = alpha_default;
  // The factor of --tolerate: the new version counts as good as long as its failure rate is at most
  // this many times the failure rate of the control group.
  std::int64_t tolerate_millionths = tolerate_default;

  bool operator==(const RolloutTerms&) const = default;
};

enum class RolloutState {
  unknown,
  created,  // not all records of the rollout are written yet
  rolling,
  paused,
  aborting,
  aborted,
  completed,
  undoing,  // nodes that have kept the new version go back, the newest batch first
  undone,
  baking,  // every batch is done, but the rollout is still judged, for bake_ms
};
constexpr auto names(RolloutState) {
  return std::to_array<std::string_view>({"unknown", "created", "rolling", "paused", "aborting",
                                          "aborted", "completed", "undoing", "undone", "baking"});
}

// Returns whether a rollout in this state has ended.
constexpr bool is_over(RolloutState state) {
  return state == RolloutState::completed || state == RolloutState::aborted ||
         state == RolloutState::undone;
}

// The phase of the batch under way, mainly for people. The driver's decisions depend on two phases
// only. In the phase `confirming`, the driver no longer waits for the judge and the gates. In the
// phase `pausing`, it waits for the time of --pause before it begins the next batch.
enum class BatchPhase { unknown, preparing, applying, soaking, confirming, pausing };
constexpr auto names(BatchPhase) {
  return std::to_array<std::string_view>(
      {"unknown", "preparing", "applying", "soaking", "confirming", "pausing"});
}

// The answer of a gate. A gate is a measurement outside the fleet, such as a query to Prometheus,
// that says whether the new version works well.
enum class GateSays { unknown, well, worse, not_known };
constexpr auto names(GateSays) {
  return std::to_array<std::string_view>({"unknown", "well", "worse", "not-known"});
}

// The most gates that a rollout may have.
inline constexpr std::size_t gates_max = 8;

// The last answer of one gate.
struct GateStand {
  std::string name = {};
  GateSays says = GateSays::unknown;
  std::string words = {};  // the reason for the answer, with the value that the gate saw

  bool operator==(const GateStand&) const = default;
};

enum class RolloutOrder { unknown, none, pause, abort, abort_and_leave, undo, undo_now };
constexpr auto names(RolloutOrder) {
  return std::to_array<std::string_view>(
      {"unknown", "none", "pause", "abort", "abort-and-leave", "undo", "undo-now"});
}

// The record rollout/NAME. Each transaction of the rollout's driver compares the revision of this
// record, and writes the record. So a transaction whose answer was lost cannot be committed after a
// later transaction.
struct Rollout {
  RolloutTerms terms = {};
  RolloutState state = RolloutState::created;
  // The order that a person has given and the driver has not carried out yet.
  RolloutOrder order = RolloutOrder::none;
  std::string ordered_by = {};  // the person who gave the last order
  std::string reason = {};      // why the rollout is paused or aborted
  std::int64_t batch = 0;       // the batch under way, counted from 0
  std::int64_t batches = 0;
  BatchPhase phase = BatchPhase::unknown;
  std::int64_t failed = 0;
  // Each of the next three lists names at most names_kept nodes (record_text.h). The count after
  // the list is the number of all these nodes.
  std::vector<std::string> unconfirmed = {};
  std::int64_t unconfirmed_count = 0;
  // Selected nodes that the rollout leaves out, since they were degraded when it began.
  std::vector<std::string> excluded = {};
  std::int64_t excluded_count = 0;
  // Selected nodes that the rollout leaves out, since they do not report.
  std::vector<std::string> not_covered = {};
  std::int64_t not_covered_count = 0;
  bool undo = false;      // true if an undo follows the abort
  bool undo_now = false;  // true if the undo takes back all batches at the same time
  // True if the undo has handled the cell's desired version: the undo has marked it as refused, or
  // has found that it is not the rollout's version.
  bool wish_refused = false;
  std::int64_t kept = 0;              // how many nodes the undo could not take back
  std::vector<GateStand> gates = {};  // the last answers of the gates
  // How many times the batch under way has gone back because the judge or a gate gave no verdict in
  // time.
  std::int64_t again = 0;
  // How much of the bake has passed. The driver writes this number ten times during the bake.
  std::int64_t baked_ms = 0;
  std::string waits_for = {};  // the places of budgets that the batch under way waits for
  std::string driver = {};     // the controller that drives the rollout, or drove it last
  std::string who = {};
  std::string trace = {};
  std::string created = {};

  bool operator==(const Rollout&) const = default;
};

// The record rollout/NAME/batch/NUMBER: the nodes of one batch. The record is never changed.
struct RolloutBatch {
  std::vector<std::string> nodes = {};  // the names of the batch's nodes, sorted

  bool operator==(const RolloutBatch&) const = default;
};

// The comparison of a rollout's nodes by one measure, such as a latency, that the component reports
// about itself. It is a part of the judge's record (judge_verdict.h).
struct JudgedMeasure {
  std::string name = {};
  MeasureType type = MeasureType::unknown;
  MeasureWorse worse = MeasureWorse::unknown;
  // The logarithm of the evidence that the new version is worse, in millionths; 0: not judged yet.
  std::int64_t log = 0;
  std::int64_t judged = 0;  // how many batches were judged by this measure
  std::int64_t batch = -1;  // the number of the batch that was judged last; see turn_of()
  std::int64_t fresh = 0;   // how many nodes with the new version were compared
  std::int64_t fresh_worse = 0;
  // How many nodes of the control group were compared when the last batch was judged.
  std::int64_t control = 0;
  std::string words = {};

  bool operator==(const JudgedMeasure&) const = default;
};

// The record rollout/NAME/judge: the judge's findings so far. A driver that takes over the rollout
// continues with these findings (judge_watch.h).
struct RolloutJudge {
  // The evidence that the new version fails more often, as logarithms in millionths. There is one
  // logarithm for each ratio in evidence_ratios (judge_evidence.h).
  std::vector<std::int64_t> logs = {};
  std::int64_t fresh = 0;  // how many nodes with the new version were compared
  std::int64_t fresh_failed = 0;
  std::int64_t control = 0;
  std::int64_t control_failed = 0;
  // The failed nodes, each as the number that short_place() returns for its name.
  std::vector<std::int64_t> failed = {};
  std::int64_t batch = 0;  // the number of the batch under way; see turn_of()
  // The times in this record are sums over nodes. A node is at risk while it is compared with other
  // nodes and has not failed.
  std::int64_t seen_ms = 0;      // how long the judge has seen the nodes of the batch soak
  std::int64_t control_ms = 0;   // the control nodes' time without a failure, added up
  std::int64_t bake_failed = 0;  // how many nodes with the new version have failed during the bake
  std::int64_t bake_ms = 0;      // the new nodes' time without a failure in the bake
  std::string verdict = {};
  std::string words = {};
  // The measures by which the rollout is judged. They are chosen once, at the first batch, from the
  // reports of the control group.
  std::vector<JudgedMeasure> measures = {};

  bool operator==(const RolloutJudge&) const = default;
};

// The last order that a node of a rollout got, or the outcome of that order. A node without a
// record has got no order yet.
enum class NodeStage {
  unknown,
  waiting,
  preparing,
  applying,
  confirming,
  rolling_back,
  confirmed,    // the node keeps the new version
  failed,       // the node does not keep the new version: it runs the old one, or goes back to it
  unconfirmed,  // the node got no `confirm` in time and went back, or did not answer `confirm`
  rolled_back,  // the node was ordered to go back, and has done so
  // The node keeps its current version: the rollout was aborted before the node got an order, or
  // somebody else moved the node when its batch began.
  left,
  undone,  // the undo has brought back the earlier version
  kept,    // the undo could not bring back the earlier version
  // The node went back because the judge or a gate gave no verdict in time. When a person resumes
  // the rollout, the node's batch is done again.
  not_judged,
};
constexpr auto names(NodeStage) {
  return std::to_array<std::string_view>(
      {"unknown", "waiting", "preparing", "applying", "confirming", "rolling-back", "confirmed",
       "failed", "unconfirmed", "rolled-back", "left", "undone", "kept", "not-judged"});
}

// Returns whether a node in this stage has no order left to carry out.
constexpr bool is_end(NodeStage stage) {
  switch (stage) {
    case NodeStage::confirmed:
    case NodeStage::failed:
    case NodeStage::unconfirmed:
    case NodeStage::rolled_back:
    case NodeStage::left:
    case NodeStage::undone:
    case NodeStage::kept:
    case NodeStage::not_judged:
      return true;
    case NodeStage::unknown:
    case NodeStage::waiting:
    case NodeStage::preparing:
    case NodeStage::applying:
    case NodeStage::confirming:
    case NodeStage::rolling_back:
      break;
  }
  return false;
}

// The record rollout/RID/node/ID: how far node ID has come in rollout RID.
struct RolloutNode {
  NodeStage stage = NodeStage::waiting;
  std::string command = {};  // the id of the last command to the node
  std::int64_t attempt = 0;
  std::string error = {};
  // True if the node got the command `apply`, so that it may already run the new version.
  bool applied = false;
  std::string before = {};                   // the version that the node ran before the rollout
  std::vector<Desired> desired_before = {};  // the node's own desired version before the rollout
  bool undo = false;                         // true if the node's last order belongs to an undo
  // The value of Rollout::again when this node last began anew, because its batch had got no
  // verdict in time. 0 if the node has not begun anew.
  std::int64_t again = 0;
  std::vector<Capsule> evidence = {};  // at most one: the evidence of the node's failure

  bool operator==(const RolloutNode&) const = default;
};

}  // namespace fleet
