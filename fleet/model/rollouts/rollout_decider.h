// The classes with which decide() (rollout_decision.h) works. RolloutBatchNow describes the batch
// under way. RolloutDecider makes one decision about the rollout. RolloutWriter makes the
// transaction that carries out the decision. RolloutDecider has two files: rollout_decision.cc
// brings nodes to the new version, and rollout_abort.cc brings nodes back.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/records/time.h"
#include "fleet/model/rollouts/rollout_decision.h"
#include "fleet/model/rollouts/rollout_view.h"

namespace fleet {

struct NodeEnding {
  std::string node = {};
  NodeStage stage = NodeStage::failed;
  std::string error = {};
};

// Makes the transactions of a rollout's driver. Each transaction compares the driver's fence (the
// revision at which the driver's key was created) and the revision of the rollout's record, and
// writes that record. So the transactions are committed one after the other, and the store refuses
// a transaction that arrives late.
class RolloutWriter {
 public:
  RolloutWriter(const RolloutView& view, const DriverFacts& facts);

  // Returns the rollout's record that the transaction will write, for the caller to change. The
  // controller's name is already filled in.
  Rollout& rollout() { return rollout_; }

  // Makes the store refuse the transaction while the record `stop` exists. Called for the orders to
  // prepare or apply the new version, but not in an undo.
  void begins_something();

  // Returns whether the transaction has room for the writes of one more node.
  [[nodiscard]] bool has_room() const;

  // Orders a node in this state to do a step: writes the node's command, and the rollout's record
  // of the node.
  // The first order also writes a claim, the record by which no other rollout or person may move
  // the node. The node waits for `delay_ms` after it has received the command. Then the node has at
  // most `ttl_ms` to begin.
  void order(const std::string& node, Standing standing, RolloutStep step, Ms ttl_ms, Ms delay_ms);

  // Asks a node of the control group to report its health while the batch under way soaks.
  void ask_control(const std::string& node);

  // Records how a node's part in the rollout has ended. Erases the claim on the node, and the
  // node's command, so that the node cannot begin the command any more. For a confirmed node, makes
  // the new version the node's own desired version, unless a person has pinned the node to a
  // version since the rollout's first order to the node. For an undone node, restores the node's
  // earlier desired version, unless somebody has changed the desired version since.
  void end(const NodeEnding& ending);

  // Returns for how many more places of budgets the transaction has room. A budget limits how many
  // nodes may be down at the same time; a node needs one of its places before it goes down.
  [[nodiscard]] std::size_t places_room() const;
  // Takes the places that `answer` lists: see budgets.h.
  void take_places(const PlacesAnswer& answer);
  // Gives back the budget places that the rollout has taken for the node. Returns whether there
  // were any. Called by end(), too.
  bool free_places(const std::string& node);

  // Called when a rollout is undone. If the cell's desired version is the rollout's version, marks
  // this desired version as refused: no node moves to a refused version until a person orders the
  // desired version anew.
  void refuse_wish();

  // Adds the judge's findings to the transaction.
  void put_judge(const RolloutJudge& judge);

  [[nodiscard]] Transaction transaction();

 private:
  void put_node(const std::string& node, const RolloutNode& record);
  [[nodiscard]] std::string compare_wish_of(const std::string& node);
  void put_wish_before(const std::string& node);

  const RolloutView& view_;
  const DriverFacts& facts_;
  Rollout rollout_;
  Transaction transaction_;
};

// Returns the transaction that writes the judge's findings. If the findings show that the new
// version is worse, the transaction also aborts the rollout.
[[nodiscard]] Write judged(const RolloutView& view, const DriverFacts& facts);

// Returns the transaction by which the rollout gives back the places of budgets that these nodes
// have. Returns no value if they have none.
[[nodiscard]] std::optional<Write> freed_places(const RolloutView& view, const DriverFacts& facts,
                                                const std::vector<std::string>& nodes);

// Describes the batch under way: the state of each of its nodes at one moment. The state depends on
// the node's records, and on whether the time limit for the node's answer has passed.
class RolloutBatchNow {
 public:
  struct Node {
    const std::string& id;      // the node's id, a reference into the rollout's view
    const RolloutNode& record;  // a reference into the rollout's view
    Stand stand = {};
    // The time limit for the node's answer; no value if no answer is awaited.
    std::optional<Ms> answer_by = {};
    bool has_begun = false;    // the node has begun an upgrade that this rollout has ordered
    bool undoes = false;       // true while an undo of the rollout is under way
    bool is_unjudged = false;  // the node goes back because the judge or a gate gave no verdict
  };

  // Finds the state of each node of the batch. If the driver begins to wait for nodes now, sets the
  // beginning of this wait in `marks` to `now`.
  RolloutBatchNow(const RolloutView& view, RolloutMarks& marks, Ms now);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::vector<std::string> in(NodeStage stage, Standing what) const;
  [[nodiscard]] std::vector<std::string> in(NodeStage stage) const;
  [[nodiscard]] std::vector<std::string> in(Standing what) const;
  // Returns the nodes that have gone back in the current try of the batch because the judge or a
  // gate gave no verdict.
  [[nodiscard]] std::vector<std::string> unjudged() const {
    return in(NodeStage::not_judged, Standing::ended);
  }
  // Returns whether a node of the batch has got its `apply` and not been interrupted, so that it
  // goes back by itself if it gets no `confirm` in time.
  [[nodiscard]] bool is_any_on_trial() const {
    return !in(NodeStage::applying, Standing::pending).empty() ||
           !in(NodeStage::applying, Standing::ready).empty();
  }
  // Returns whether the batch has begun: at least one node has an order to carry out, or all nodes
  // have already got their first order.
  [[nodiscard]] bool has_begun() const;
  // Returns the earliest time limit for an answer of a node, or no value if no answer is awaited.
  [[nodiscard]] std::optional<Ms> first_answer_by() const;

  // Returns the time over which the nodes of the batch begin a step, one after the other; 0: all at
  // the same time.
  [[nodiscard]] Ms spread() const { return spread_; }
  // Returns how long after the first node of the batch the node `id` begins a step.
  [[nodiscard]] Ms delay_of(const std::string& id) const;
  // Returns the state of the node `id`, which must be in the batch.
  [[nodiscard]] Standing standing_of(const std::string& id) const;

 private:
  [[nodiscard]] std::optional<Ms> answer_by(const NodeSight& sight) const;
  [[nodiscard]] Stand in_time(const Node& node) const;
  [[nodiscard]] std::vector<Node>::const_iterator find(const std::string& id) const;
  template <class IsWanted>
  [[nodiscard]] std::vector<std::string> ids_of(const IsWanted& is_wanted) const;

  const Rollout& rollout_;
  const RolloutMarks& marks_;
  Ms now_;
  Ms spread_;
  std::vector<Node> nodes_;
};

// Returns how a node's part in the rollout has ended, or no value if it has not ended, or if its
// end is recorded already.
[[nodiscard]] std::optional<NodeEnding> ending_of(const RolloutBatchNow::Node& node);

// Returns why a rollout in which `failed` nodes have failed has to be aborted, or an empty string
// if the rollout goes on. If the terms have `max_failed_unsaid`, the rollout also has to be aborted
// if all nodes of `batch` that have tried the version have failed.
[[nodiscard]] std::string why_too_many(const RolloutView& view, const RolloutBatchNow& batch,
                                       std::int64_t failed);

// Returns whether a node of the rollout keeps the new version.
[[nodiscard]] bool has_kept_node(const RolloutView& view);

// Returns why a rollout has to be paused although `batch` is done, or an empty string. The reason
// is that all nodes of the batch were left to somebody else, and no node has kept the new version
// so far: the next batch, which may be much larger, would be the first to try it.
[[nodiscard]] std::string why_untried(const RolloutView& view, const RolloutBatchNow& batch);

// Makes one decision about a rollout.
class RolloutDecider {
 public:
  using What = std::variant<Wait, WantLease, WantGates, Write, Over>;
  using Ids = std::vector<std::string>;

  RolloutDecider(const RolloutView& view, const DriverFacts& facts, Ms now);

  [[nodiscard]] What decide();
  // Returns the times at which this driver began to wait for nodes. Waits that begin with this
  // decision are included.
  [[nodiscard]] const RolloutMarks& marks() const { return marks_; }

 private:
  // Returns the times at which this driver began to wait in the batch under way. If the batch is
  // new, returns RolloutMarks without times.
  static RolloutMarks marks_of(const RolloutView& view, const DriverFacts& facts);
  [[nodiscard]] const RolloutTerms& terms() const { return view_.rollout->terms; }
  [[nodiscard]] bool is_abort_wanted() const;

  // ---- writes

  // Records how nodes of the batch have ended. Returns no value if there is nothing to record. If
  // `confirmed_too` is false, leaves out confirmed nodes: while the rollout is `rolling`, they are
  // recorded only when all other nodes of the batch have ended.
  std::optional<What> record_endings(bool confirmed_too);
  What give(const Ids& nodes, RolloutStep step, BatchPhase phase);
  [[nodiscard]] What ask_control(RolloutWriter& writer) const;
  void mark(RolloutStep step);
  [[nodiscard]] Ms ttl_of(RolloutStep step) const;

  // ---- the rollout

  What roll();
  What next_order();
  // Takes places of the cell's budgets for these nodes, so that they may start the new version.
  // Returns no value if they have their places already, or need none.
  std::optional<What> take_places(const Ids& nodes);
  What give_places_back(const Ids& nodes, const std::string& waits_for);
  // Returns whether the record `stop` or a closed maintenance window keeps nodes from beginning a
  // step.
  [[nodiscard]] bool is_held_back() const;
  [[nodiscard]] What wait_to_begin() const;
  [[nodiscard]] bool is_any_pending(NodeStage stage) const;
  [[nodiscard]] What wait_for_answers() const { return Wait{batch_.first_answer_by()}; }
  What end_batch();
  What pause_unjudged(const Ids& nodes);
  What complete();
  // Ends the rollout, or lets it bake (be judged for some more time) first. If the rollout has
  // batches but no node has kept the new version, the rollout ends as `aborted`, even if the number
  // of failed nodes is below the limit for an abort. Returns a message for people.
  std::string end(Rollout& rollout) const;
  // Waits until the bake (the last judging, after all batches) has passed, or the judge or a gate
  // says that the new version is worse.
  What bake();
  [[nodiscard]] What hold_bake(const GatesNow& gates) const;
  What pause(const std::string& why);

  // ---- how nodes are brought back to the old version (these functions are in rollout_abort.cc)

  // Waits for the judge's and the gates' verdicts on the nodes in `ready`, which have soaked and
  // wait for `confirm`. Orders these nodes to go back if a verdict is late, or if a node of the
  // batch was already ordered to go back. Returns no value if the nodes may be confirmed, or if
  // there are none and no node is going back.
  std::optional<What> go_back_unjudged(const Ids& ready);
  // Returns the next step if a gate says `worse`, or if the batch has to wait for the verdict of a
  // gate or the judge. Returns no value if the batch may be confirmed, or if the time limit for
  // verdicts has passed.
  std::optional<What> wait_to_be_judged(const GatesNow& gates);
  // Aborts the rollout, since one of these gates says that the new version is worse.
  What abort_by(const GatesNow& gates);
  [[nodiscard]] std::string why_unjudged(const GatesNow& gates) const;
  [[nodiscard]] GatesNow gates() const {
    return gates_now(terms().gates, facts_.gates, turn_of(*view_.rollout), now_);
  }
  [[nodiscard]] Ms judged_by() const;
  [[nodiscard]] std::string why_abort() const;
  [[nodiscard]] std::string no_batch() const;
  What begin_abort(const std::string& why);
  What abort();
  // Records that nodes keep the version that they run: the nodes that were not ordered to `apply`
  // or, with --leave, all nodes of the batch that have not ended.
  std::optional<What> leave_untouched();
  [[nodiscard]] bool undoes() const { return is_undoing(view_); }
  What undo();
  What end_undone_batch();

  const RolloutView& view_;
  const DriverFacts& facts_;
  RolloutMarks marks_;
  Ms now_;
  RolloutBatchNow batch_;
};

inline void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace fleet
