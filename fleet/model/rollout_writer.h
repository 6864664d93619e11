// Makes the transactions of a rollout's driver. Each compares the driver's fence and the rollout's
// revision, and writes the rollout. So all of them have one order, and one that arrives late is
// refused.
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

  // Returns the rollout as it will be written; its driver is filled in.
  Rollout& rollout() { return rollout_; }

  // Makes the store refuse the transaction while the record `stop` exists.
  void begins_something();

  // Returns whether the writes of another node fit into the transaction.
  [[nodiscard]] bool has_room() const;

  // Orders a step of a node: writes its command, its stage, and with the first order its claim. The
  // node has to begin `delay_ms` after it has received the command, and at most `ttl_ms` later.
  void order(const std::string& node, RolloutStep step, Ms ttl_ms, Ms delay_ms);

  // Records the end of a node, and erases its claim and its command, so that a command that was not
  // begun never is. A confirmed node gets the version as its desired one, so that nothing moves it
  // back. A node that is undone gets back its earlier wish, unless somebody else has written
  // another wish since.
  void end(const NodeEnding& ending);

  // Called when a rollout is undone. If the rollout's version is the one that the whole fleet is to
  // run, marks that wish as refused: it moves no node until a person orders it anew.
  void refuse_wish();

  // Writes the present findings of the judge.
  void put_judge(const RolloutJudge& judge);

  [[nodiscard]] Transaction transaction();

 private:
  void put_node(const std::string& node, const RolloutNode& record);
  void put_wish_before(const std::string& node);

  const RolloutView& view_;
  const DriverFacts& facts_;
  Rollout rollout_;
  Transaction transaction_;
};

// Returns the write that records the judge's findings, and aborts the rollout if the version is
// worse.
[[nodiscard]] Write judged(const RolloutView& view, const DriverFacts& facts);

}  // namespace fleet
