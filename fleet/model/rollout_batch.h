// The batch under way, each of its nodes as it stands at one moment: what its records say, and
// whether the time is up that it had to answer.
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
    std::optional<Ms> answer_by = {};  // of one that is waited for
  };

  // Begins, in `marks`, the waits that it finds under way.
  RolloutBatchNow(const RolloutView& view, RolloutMarks& marks, Ms now);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::vector<std::string> in(NodeStage stage, Standing what) const;
  [[nodiscard]] std::vector<std::string> in(NodeStage stage) const;
  // Whether anything was ordered of any.
  [[nodiscard]] bool has_begun() const;
  // When the first that is waited for has had its time.
  [[nodiscard]] std::optional<Ms> first_answer_by() const;

  // How long the batch takes to begin a step, and how long after the first this node begins it.
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

// The record of a node that has come to an end; no value if it has not, or it is recorded.
[[nodiscard]] std::optional<NodeEnding> ending_of(const RolloutBatchNow::Node& node);

// Why a rollout of which so many nodes have failed is aborted; empty: it is not. With --batches,
// and unless --max-failed was said, a batch of which every node has failed is enough.
[[nodiscard]] std::string why_too_many(const RolloutView& view, const RolloutBatchNow& batch,
                                       std::int64_t failed);

}  // namespace fleet
