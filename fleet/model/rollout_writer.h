// The transactions of a rollout's driver. Each compares its fence and the rollout's revision, and
// writes the rollout, so that all of them stand in one order, and one that comes late is refused.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fleet/model/rollout_decision.h"

namespace fleet {

struct NodeEnding {
  std::string node = {};
  NodeStage stage = NodeStage::failed;
  std::string error = {};
};

class RolloutWriter {
 public:
  RolloutWriter(const RolloutView& view, const DriverFacts& facts);

  // The rollout as it will be written; its driver is filled in.
  Rollout& rollout() { return rollout_; }

  // Refused while there is `stop`.
  void begins_something();

  // Returns whether the writes of another node fit into the transaction.
  [[nodiscard]] bool has_room() const;

  // Orders the step of a node: its command, its stage, and for the first its claim. The node begins
  // `delay_ms` after it has received the command, and has `ttl_ms` from then.
  void order(const std::string& node, RolloutStep step, Ms ttl_ms, Ms delay_ms);

  // Records what came of a node, takes its command away, so that one that was not begun never is,
  // and its claim. A node that is confirmed gets the version as its desired one, so that nothing
  // moves it back.
  void end(const NodeEnding& ending);

  // Writes the findings of the judge so far.
  void put_judge(const RolloutJudge& judge);

  [[nodiscard]] Transaction transaction();

 private:
  void put_node(const std::string& node, const RolloutNode& record);

  const RolloutView& view_;
  const DriverFacts& facts_;
  Rollout rollout_;
  Transaction transaction_;
};

// Records the judge's findings, and that the rollout is aborted if the version is worse.
[[nodiscard]] Write judged(const RolloutView& view, const DriverFacts& facts);

}  // namespace fleet
