// The class that makes one decision about a rollout, for rollout_decision.h. The functions that
// move nodes forward are in rollout_decision.cc, and those that bring nodes back in
// rollout_abort.cc.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fleet/model/rollout_batch.h"
#include "fleet/model/rollout_decision.h"
#include "fleet/model/rollout_writer.h"

namespace fleet {

class RolloutDecider {
 public:
  using What = std::variant<Wait, WantLease, WantGates, Write, Over>;
  using Ids = std::vector<std::string>;

  RolloutDecider(const RolloutView& view, const DriverFacts& facts, Ms now);

  [[nodiscard]] What decide();
  // Returns the times at which this driver began to wait for nodes, including waits that begin with
  // this decision.
  [[nodiscard]] const RolloutMarks& marks() const { return marks_; }

 private:
  // Returns the times at which this driver began to wait for the nodes of this batch. For a new
  // batch, no wait has begun.
  static RolloutMarks marks_of(const RolloutView& view, const DriverFacts& facts);
  [[nodiscard]] const RolloutTerms& terms() const { return view_.rollout->terms; }
  [[nodiscard]] bool is_abort_wanted() const;

  // ---- writes

  // Records for each node of the batch how its part in the rollout has ended. Confirmed nodes are
  // recorded only if `confirmed_too` is true, that is when the whole batch has ended.
  std::optional<What> record_endings(bool confirmed_too);
  What give(const Ids& nodes, RolloutStep step, BatchPhase phase);
  [[nodiscard]] What ask_control(RolloutWriter& writer) const;
  void mark(RolloutStep step);
  [[nodiscard]] Ms ttl_of(RolloutStep step) const;

  // ---- the rollout

  What roll();
  What next_order();
  // Takes the places of the cell's budgets that these nodes need before they may begin the new
  // version. Returns no value if the rollout has these places already.
  std::optional<What> take_places(const Ids& nodes);
  What give_places_back(const Ids& nodes, const std::string& waits_for);
  // Returns whether the record `stop` or a window forbids that nodes begin a step.
  [[nodiscard]] bool is_held_back() const;
  [[nodiscard]] What wait_to_begin() const;
  [[nodiscard]] bool is_any(NodeStage stage, Standing what) const;
  [[nodiscard]] What wait_for_answers() const;
  What end_batch();
  What pause_unjudged(const Ids& nodes);
  What complete();
  // Ends the rollout, or lets it bake (be judged for some more time) first. If no node has kept the
  // version, the rollout does not end as completed, even if fewer nodes have failed than are
  // allowed to. Returns a message for people.
  std::string end(Rollout& rollout) const;
  // Waits until the time of the bake has passed, or the version turns out to be worse.
  What bake();
  [[nodiscard]] What hold_bake(const GatesNow& gates) const;
  What pause(const std::string& why);

  // ---- nodes go back: see rollout_abort.cc

  // Waits for the verdicts of the judge and the gates, or orders the batch to go back. If one node
  // of the batch has been ordered to go back, all others are, too.
  std::optional<What> go_back_unjudged(const Ids& ready);
  // Returns the next step if a gate says worse, if the answer of a gate has changed, or if the
  // batch has to wait for its gates or its judge. Returns no value if the batch may be confirmed,
  // or has waited for as long as it may.
  std::optional<What> wait_to_be_judged(const GatesNow& gates);
  // Aborts the rollout, since one of these gates says that the new version is worse.
  What abort_by(const GatesNow& gates);
  [[nodiscard]] std::string why_unjudged(const GatesNow& gates) const;
  [[nodiscard]] GatesNow gates() const {
    return gates_now(terms().gates, facts_.gates, turn_of(*view_.rollout), now_);
  }
  [[nodiscard]] Ms judged_by() const;
  [[nodiscard]] std::string why_abort() const;
  // Returns the reason to abort a rollout whose batch has no record.
  [[nodiscard]] std::string no_batch() const;
  What begin_abort(const std::string& why);
  What abort();
  // Records for nodes that they keep the version that they run: for all nodes that have not begun
  // the upgrade and, with --leave, also for those that have.
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
