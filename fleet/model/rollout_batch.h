// The batch under way, and how each of its nodes stands at one moment: by its records, and by
// whether its time to answer is over.
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
    std::optional<Ms> answer_by = {};  // for a node whose answer is waited for
    bool undoes = false;               // an undo of the rollout is under way
    bool is_unjudged = false;          // it was told to go back without a verdict
  };

  // Finds the waits that are under way, and notes in `marks` those that begin now.
  RolloutBatchNow(const RolloutView& view, RolloutMarks& marks, Ms now);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::vector<std::string> in(NodeStage stage, Standing what) const;
  [[nodiscard]] std::vector<std::string> in(NodeStage stage) const;
  [[nodiscard]] std::vector<std::string> in(Standing what) const;
  // Returns the nodes that have gone back without a verdict, this time.
  [[nodiscard]] std::vector<std::string> unjudged() const;
  // Returns whether anything was ordered of any node that is still to begin, or that moves.
  [[nodiscard]] bool has_begun() const;
  // Returns when the time of the first node that is waited for is over.
  [[nodiscard]] std::optional<Ms> first_answer_by() const;

  // Returns the time in which all nodes of the batch begin a step; delay_of() returns how long
  // after the first node this one begins it.
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

// Returns the record for a node that has come to an end, or no value if it has not, or its end is
// recorded.
[[nodiscard]] std::optional<NodeEnding> ending_of(const RolloutBatchNow::Node& node);

// Returns why a rollout in which `failed` nodes have failed is aborted, or an empty text if it goes
// on. With --batches but without --max-failed, it is enough that every node of a batch has failed.
[[nodiscard]] std::string why_too_many(const RolloutView& view, const RolloutBatchNow& batch,
                                       std::int64_t failed);

}  // namespace fleet
