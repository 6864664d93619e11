// The records of a rollout: what was asked for, which nodes go in which batch, and where each node
// stands. Plain data; how they are written is in record_members.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fleet {

// In which order the nodes of a rollout come.
enum class NodeOrder {
  unknown,
  name,
  random,  // by a hash of the seed and the node's name
};
constexpr auto names(NodeOrder) {
  return std::to_array<std::string_view>({"unknown", "name", "random"});
}

// The terms that a person asked for; rollout_terms.h has filled in those that were left open.
struct RolloutTerms {
  std::string component = {};
  std::string version = {};
  std::string digest = {};
  std::string target = {};         // as it was written
  std::int64_t batch = 1;          // nodes
  std::int64_t batch_percent = 0;  // of all; in place of `batch` where it is not 0
  std::int64_t canary = 0;         // nodes of a first batch of their own
  std::int64_t soak_ms = 60'000;
  std::int64_t pause_ms = 0;
  std::int64_t max_failed = 1;
  std::int64_t confirm_ms = 0;  // 0 for the longer of three soaks and five minutes
  std::int64_t min_protocol = 0;
  bool ignore_window = false;
  bool downgrade = false;
  std::string batches = {};  // sizes, as `--batches` has them; empty: `batch` and `canary` say it
  NodeOrder order = NodeOrder::name;
  std::string seed = {};                // of a random order
  std::vector<std::string> apart = {};  // as `--apart` has them
  std::int64_t spread_ms = 0;           // -1: by the size of each batch
  bool max_failed_unsaid = false;       // the failure that aborts is failures_allowed()

  bool operator==(const RolloutTerms&) const = default;
};

enum class RolloutState {
  unknown,
  created,  // not all of it is written yet, or nobody has begun
  rolling,
  paused,
  aborting,
  aborted,
  completed,
};
constexpr auto names(RolloutState) {
  return std::to_array<std::string_view>(
      {"unknown", "created", "rolling", "paused", "aborting", "aborted", "completed"});
}

// Whether a rollout in this state has ended.
constexpr bool is_over(RolloutState state) {
  return state == RolloutState::completed || state == RolloutState::aborted;
}

// The phase of the batch under way, for people; decisions are made from where each node stands.
enum class BatchPhase { unknown, preparing, applying, soaking, confirming, pausing };
constexpr auto names(BatchPhase) {
  return std::to_array<std::string_view>(
      {"unknown", "preparing", "applying", "soaking", "confirming", "pausing"});
}

enum class RolloutOrder { unknown, none, pause, abort, abort_and_leave };
constexpr auto names(RolloutOrder) {
  return std::to_array<std::string_view>({"unknown", "none", "pause", "abort", "abort-and-leave"});
}

// rollout/RID. Every transaction of its driver writes it, so that one whose answer was lost can
// never be committed behind a later one.
struct Rollout {
  RolloutTerms terms = {};
  RolloutState state = RolloutState::created;
  RolloutOrder order = RolloutOrder::none;  // a person's, not yet done
  std::string ordered_by = {};              // whose order was the last
  std::string reason = {};                  // why it is paused or aborted
  std::int64_t batch = 0;                   // the one under way, from 0
  std::int64_t batches = 0;
  BatchPhase phase = BatchPhase::unknown;
  std::int64_t failed = 0;
  // Of nodes the first names_kept are named (record_brief.h); beside each list is how many there
  // are in all.
  std::vector<std::string> unconfirmed = {};
  std::int64_t unconfirmed_count = 0;
  std::vector<std::string> excluded = {};  // degraded when it began
  std::int64_t excluded_count = 0;
  std::vector<std::string> not_covered = {};  // meant by the target, and not reporting
  std::int64_t not_covered_count = 0;
  std::string driver = {};  // who drives it, or did last
  std::string who = {};
  std::string trace = {};
  std::string created = {};

  bool operator==(const Rollout&) const = default;
};

// rollout/RID/batch/K: written once.
struct RolloutBatch {
  std::vector<std::string> nodes = {};  // sorted

  bool operator==(const RolloutBatch&) const = default;
};

// rollout/RID/judge: the findings of the comparison of nodes, from which another driver goes on
// (judge_watch.h).
struct RolloutJudge {
  std::vector<std::int64_t> logs = {};  // of the evidence, in millionths
  std::int64_t fresh = 0;               // nodes of the new version that were compared
  std::int64_t fresh_failed = 0;
  std::int64_t control = 0;
  std::int64_t control_failed = 0;
  std::vector<std::int64_t> failed = {};  // which nodes, as short_place() has them
  std::int64_t batch = 0;                 // the one under way,
  std::int64_t seen_ms = 0;               // and how much of its nodes' soak was seen
  std::string verdict = {};
  std::string words = {};

  bool operator==(const RolloutJudge&) const = default;
};

// The last that was ordered of a node, or what came of it. Absent: nothing was ordered yet.
enum class NodeStage {
  unknown,
  waiting,
  preparing,
  applying,
  confirming,
  rolling_back,
  confirmed,    // the new version stays
  failed,       // the old version stays, or comes back by itself
  unconfirmed,  // it went back for want of a `confirm`, or nobody can tell
  rolled_back,  // it was told to go back, and did
  left,         // the rollout ended before anything was begun on it, or with --leave
};
constexpr auto names(NodeStage) {
  return std::to_array<std::string_view>({"unknown", "waiting", "preparing", "applying",
                                          "confirming", "rolling-back", "confirmed", "failed",
                                          "unconfirmed", "rolled-back", "left"});
}

// rollout/RID/node/ID.
struct RolloutNode {
  NodeStage stage = NodeStage::waiting;
  std::string command = {};  // the id of the last order
  std::int64_t attempt = 0;
  std::string error = {};
  bool applied = false;  // `apply` was ordered: it may have run the new version

  bool operator==(const RolloutNode&) const = default;
};

}  // namespace fleet
