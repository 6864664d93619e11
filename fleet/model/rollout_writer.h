// Makes the transactions of a rollout's driver. Each transaction compares the driver's fence and
// the revision of the rollout's record, and writes that record. So only one transaction after the
// other can be committed, and a transaction that arrives late is refused.
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

  // Returns the rollout's record as it will be written, with the controller's name filled in.
  Rollout& rollout() { return rollout_; }

  // Adds a compare, so that the store refuses the transaction while the record `stop` exists.
  void begins_something();

  // Returns whether the transaction has room for the writes of one more node.
  [[nodiscard]] bool has_room() const;

  // Gives a node the order for a step: writes its command and its record, and with the first order
  // its claim. The node has to begin `delay_ms` after the receipt of the command, and at most
  // `ttl_ms` later.
  void order(const std::string& node, RolloutStep step, Ms ttl_ms, Ms delay_ms);

  // Asks a node of the control group for its health while the batch under way soaks.
  void ask_control(const std::string& node);

  // Records how a node has ended. Erases the claim and the command, so that the node cannot begin
  // the command any more. A confirmed node gets the version as its own desired version, so that it
  // stays there. An undone node gets back its earlier desired version, unless somebody has written
  // another one since.
  void end(const NodeEnding& ending);

  // Returns how many places of budgets one transaction can take.
  [[nodiscard]] std::size_t places_room() const;
  // Adds the writes by which the rollout takes the places in `answer`.
  void take_places(const PlacesAnswer& answer);
  // Gives back the places of budgets that the node has. Returns whether the node has any. end()
  // calls this function, too.
  bool free_places(const std::string& node);

  // Called when a rollout is undone. If the cell's desired version is the rollout's version, marks
  // it as refused: no node moves to it until a person writes a desired version anew.
  void refuse_wish();

  // Adds the judge's findings to the transaction.
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

// Returns the transaction that writes the judge's findings. If they show that the version is worse,
// it also aborts the rollout.
[[nodiscard]] Write judged(const RolloutView& view, const DriverFacts& facts);

}  // namespace fleet
