// The records of a rollout: its terms, the nodes of each batch, and how far each node is. Plain
// data; record_members.h says how records are written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/cell_records.h"

namespace fleet {

// The order in which the nodes of a rollout come.
enum class NodeOrder {
  unknown,
  name,
  random,  // by a hash of the seed and the node's name
};
constexpr auto names(NodeOrder) {
  return std::to_array<std::string_view>({"unknown", "name", "random"});
}

// The terms of a rollout, as a person has chosen them. rollout_terms.h has filled in those that
// were left open.
struct RolloutTerms {
  std::string component = {};
  std::string version = {};
  std::string digest = {};
  std::string target = {};  // as the person wrote it
  std::int64_t batch = 1;   // a number of nodes
  // The batch as a percentage of all nodes. If it is not 0, `batch` is ignored.
  std::int64_t batch_percent = 0;
  std::int64_t canary = 0;  // the number of nodes in a first batch of their own
  std::int64_t soak_ms = 60'000;
  std::int64_t pause_ms = 0;
  std::int64_t max_failed = 1;
  std::int64_t confirm_ms = 0;  // 0 stands for the longer of three soaks and five minutes
  std::int64_t min_protocol = 0;
  bool ignore_window = false;
  bool downgrade = false;
  std::string batches = {};  // sizes as in `--batches`; if empty, `batch` and `canary` count
  NodeOrder order = NodeOrder::name;
  std::string seed = {};                // for a random order
  std::vector<std::string> apart = {};  // texts as in `--apart`
  std::int64_t spread_ms = 0;           // -1 stands for a spread by the size of each batch
  bool max_failed_unsaid = false;       // nobody said --max-failed, so failures_allowed() counts
  bool undo = false;                    // --undo: a rollout that its driver aborts is undone
  bool no_undo = false;                 // the release's manifest says that it cannot be undone
  // how long a batch waits for its judge and its gates; 0 stands for a soak, at least five minutes
  std::int64_t judge_timeout_ms = 0;
  std::vector<std::string> gates = {};  // names of entries in the controllers' own configuration

  bool operator==(const RolloutTerms&) const = default;
};

enum class RolloutState {
  unknown,
  created,  // not all of its records are written yet, or no driver has begun
  rolling,
  paused,
  aborting,
  aborted,
  completed,
  undoing,  // nodes that have kept the version go back, the newest batch first
  undone,
};
constexpr auto names(RolloutState) {
  return std::to_array<std::string_view>({"unknown", "created", "rolling", "paused", "aborting",
                                          "aborted", "completed", "undoing", "undone"});
}

// Returns whether a rollout in this state has ended.
constexpr bool is_over(RolloutState state) {
  return state == RolloutState::completed || state == RolloutState::aborted ||
         state == RolloutState::undone;
}

// The phase of the batch under way, which is only shown to people; decisions are made from the
// records of each node.
enum class BatchPhase { unknown, preparing, applying, soaking, confirming, pausing };
constexpr auto names(BatchPhase) {
  return std::to_array<std::string_view>(
      {"unknown", "preparing", "applying", "soaking", "confirming", "pausing"});
}

// The answer of a gate, which is a measurement or a program outside the fleet that says whether the
// new version does well.
enum class GateSays { unknown, well, worse, not_known };
constexpr auto names(GateSays) {
  return std::to_array<std::string_view>({"unknown", "well", "worse", "not-known"});
}

// A rollout asks at most so many gates.
inline constexpr std::size_t gates_max = 8;

// The last answer of one gate.
struct GateStand {
  std::string name = {};
  GateSays says = GateSays::unknown;
  std::string words = {};  // why, with the number that the gate saw

  bool operator==(const GateStand&) const = default;
};

enum class RolloutOrder { unknown, none, pause, abort, abort_and_leave, undo, undo_now };
constexpr auto names(RolloutOrder) {
  return std::to_array<std::string_view>(
      {"unknown", "none", "pause", "abort", "abort-and-leave", "undo", "undo-now"});
}

// The record rollout/RID. Every transaction of its driver writes it, so that a transaction whose
// answer was lost can never be committed after a later one.
struct Rollout {
  RolloutTerms terms = {};
  RolloutState state = RolloutState::created;
  // The order that a person has given and that has not been carried out yet.
  RolloutOrder order = RolloutOrder::none;
  std::string ordered_by = {};  // the person who gave the last order
  std::string reason = {};      // why the rollout is paused or aborted
  std::int64_t batch = 0;       // the batch under way, from 0
  std::int64_t batches = 0;
  BatchPhase phase = BatchPhase::unknown;
  std::int64_t failed = 0;
  // Each of these lists names at most names_kept nodes (record_brief.h); the count beside it is of
  // all of them.
  std::vector<std::string> unconfirmed = {};
  std::int64_t unconfirmed_count = 0;
  std::vector<std::string> excluded = {};  // nodes that were degraded when the rollout began
  std::int64_t excluded_count = 0;
  std::vector<std::string> not_covered = {};  // nodes that the target means, and that do not report
  std::int64_t not_covered_count = 0;
  bool undo = false;          // the rollout is undone as soon as its abort has ended
  bool undo_now = false;      // the undo goes through all batches at once
  bool wish_refused = false;  // the undo has looked at the cell's wish, and refused it if need be
  std::int64_t kept = 0;      // nodes that could not go back
  std::vector<GateStand> gates = {};  // as they answered last
  // how often the batch under way has gone back without a verdict
  std::int64_t again = 0;
  std::string driver = {};  // the controller that drives the rollout, or did last
  std::string who = {};
  std::string trace = {};
  std::string created = {};

  bool operator==(const Rollout&) const = default;
};

// The record rollout/RID/batch/K, which is written once.
struct RolloutBatch {
  std::vector<std::string> nodes = {};  // sorted

  bool operator==(const RolloutBatch&) const = default;
};

// The record rollout/RID/judge: the findings of the comparison of nodes, from which another driver
// goes on (judge_watch.h).
struct RolloutJudge {
  std::vector<std::int64_t> logs = {};  // logarithms of the evidence, in millionths
  std::int64_t fresh = 0;               // nodes of the new version that were compared
  std::int64_t fresh_failed = 0;
  std::int64_t control = 0;
  std::int64_t control_failed = 0;
  std::vector<std::int64_t> failed = {};  // the nodes that have failed, by their short_place()
  std::int64_t batch = 0;                 // the turn_of() the batch under way
  std::int64_t seen_ms = 0;               // the time of its nodes' soak that was seen
  std::string verdict = {};
  std::string words = {};

  bool operator==(const RolloutJudge&) const = default;
};

// The last order that a node of a rollout was given, or its outcome. If the record is absent,
// nothing was ordered yet.
enum class NodeStage {
  unknown,
  waiting,
  preparing,
  applying,
  confirming,
  rolling_back,
  confirmed,    // the new version stays
  failed,       // the old version is still active, or comes back by itself
  unconfirmed,  // it went back because no `confirm` came, or its outcome is unknown
  rolled_back,  // it was told to go back, and has
  left,         // the rollout ended before the node began, or with --leave
  undone,       // an undo has brought back the version that the node ran before
  kept,         // an undo has told the node to go back, and the node could not
  // it went back since nobody knew in time whether the version does well; its batch is done again
  not_judged,
};
constexpr auto names(NodeStage) {
  return std::to_array<std::string_view>(
      {"unknown", "waiting", "preparing", "applying", "confirming", "rolling-back", "confirmed",
       "failed", "unconfirmed", "rolled-back", "left", "undone", "kept", "not-judged"});
}

// Returns whether nothing is under way on a node in this stage any more.
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

// The record rollout/RID/node/ID.
struct RolloutNode {
  NodeStage stage = NodeStage::waiting;
  std::string command = {};  // the id of the last command
  std::int64_t attempt = 0;
  std::string error = {};
  bool applied = false;                      // `apply` was ordered, so the new version may have run
  std::string before = {};                   // the version that ran when `prepare` was ordered
  std::vector<Desired> desired_before = {};  // the node's own wish at that time, if it had one
  bool undo = false;                         // the last order belongs to an undo
  std::int64_t again = 0;                    // of the rollout, when the last order was given

  bool operator==(const RolloutNode&) const = default;
};

}  // namespace fleet
