// Describes the batch under way: the state of each of its nodes at one moment. The state follows
// from the node's records, and from whether the node's time to answer is over.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fleet/model/rollout_view.h"
#include "fleet/model/rollout_writer.h"
#include "fleet/model/time.h"

namespace fleet {

class RolloutBatchNow {
 public:
  struct Node {
    std::string id = {};
    RolloutNode record = {};
    Stand stand = {};
    // The time limit for the node's answer; no value if no answer is awaited.
    std::optional<Ms> answer_by = {};
    bool undoes = false;       // true while an undo of the rollout is under way
    bool is_unjudged = false;  // the node had to go back since there was no verdict in time
  };

  // Finds out for which answers of its nodes the batch waits now. If such a wait begins now, notes
  // the time in `marks`.
  RolloutBatchNow(const RolloutView& view, RolloutMarks& marks, Ms now);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::vector<std::string> in(NodeStage stage, Standing what) const;
  [[nodiscard]] std::vector<std::string> in(NodeStage stage) const;
  [[nodiscard]] std::vector<std::string> in(Standing what) const;
  // Returns the nodes that have gone back in this run of the batch because the judge or a gate gave
  // no verdict.
  [[nodiscard]] std::vector<std::string> unjudged() const;
  // Returns whether the batch has begun: at least one node is moving, or all nodes have begun
  // already.
  [[nodiscard]] bool has_begun() const;
  // Returns the earliest time limit for an answer of a node, or no value if no answer is awaited.
  [[nodiscard]] std::optional<Ms> first_answer_by() const;

  // Returns the time over which the nodes of the batch begin a step, and the delay of one node
  // within this time.
  [[nodiscard]] Ms spread() const { return spread_; }
  [[nodiscard]] Ms delay_of(const std::string& id) const;

 private:
  [[nodiscard]] std::optional<Ms> answer_by(const RolloutNode& record, UpgradePhase phase) const;
  [[nodiscard]] Stand in_time(const Node& node) const;

  const RolloutTerms& terms_;
  const RolloutMarks& marks_;
  Ms now_;
  Ms spread_;
  std::vector<Node> nodes_;
};

// Returns how a node has ended, or no value if it has not ended or its end is recorded already.
[[nodiscard]] std::optional<NodeEnding> ending_of(const RolloutBatchNow::Node& node);

// Returns why a rollout in which `failed` nodes have failed has to be aborted, or an empty text if
// it goes on. With --batches and without --max-failed, a rollout is also aborted if all nodes of
// one batch have failed.
[[nodiscard]] std::string why_too_many(const RolloutView& view, const RolloutBatchNow& batch,
                                       std::int64_t failed);

}  // namespace fleet
