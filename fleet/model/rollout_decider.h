// The class that makes one decision about a rollout, for rollout_decision.h. Its functions are in
// two files: rollout_decision.cc goes on with a rollout, and rollout_abort.cc lets nodes go back.
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
  // Returns the waits, including those that this decision has begun.
  [[nodiscard]] const RolloutMarks& marks() const { return marks_; }

 private:
  // Returns the waits that have begun for this batch. For another batch than before, all waits
  // begin anew.
  static RolloutMarks marks_of(const RolloutView& view, const DriverFacts& facts);
  [[nodiscard]] const RolloutTerms& terms() const { return view_.rollout->terms; }
  [[nodiscard]] bool is_abort_wanted() const;

  // ---- writes

  // Records the ends of nodes. The end of a confirmed node is recorded only together with the
  // batch's end.
  std::optional<What> record_endings(bool confirmed_too);
  What give(const Ids& nodes, RolloutStep step, BatchPhase phase);
  void mark(RolloutStep step);
  [[nodiscard]] Ms ttl_of(RolloutStep step) const;

  // ---- the rollout

  What roll();
  What next_order();
  // Returns whether `stop` or a window keeps anything from beginning.
  [[nodiscard]] bool is_held_back() const;
  [[nodiscard]] What wait_to_begin() const;
  [[nodiscard]] bool is_any(NodeStage stage, Standing what) const;
  [[nodiscard]] What wait_for_answers() const;
  What end_batch();
  What pause_unjudged(const Ids& nodes);
  What complete();
  // Returns how the rollout ends. If no node has kept the version, the rollout is not completed,
  // even if fewer nodes have failed than may.
  std::string end(Rollout& rollout) const;
  What pause(const std::string& why);

  // ---- nodes go back: see rollout_abort.cc

  // Waits for the judge and the gates, or lets the batch go back: the whole batch, if one of its
  // nodes was told to.
  std::optional<What> go_back_unjudged(const Ids& ready);
  // Returns the step for a batch whose gates are worse or new, or that has to wait for gates or
  // judge; no value if it may be confirmed, or its time is over.
  std::optional<What> wait_to_be_judged(const GatesNow& gates);
  [[nodiscard]] std::string why_unjudged(const GatesNow& gates) const;
  [[nodiscard]] GatesNow gates() const {
    return gates_now(terms().gates, facts_.gates, turn_of(*view_.rollout), now_);
  }
  [[nodiscard]] Ms judged_by() const;
  [[nodiscard]] std::string why_abort() const;
  // Returns the reason to abort a rollout if the record of its batch is missing.
  [[nodiscard]] std::string no_batch() const;
  What begin_abort(const std::string& why);
  What abort();
  // Leaves the nodes that have begun nothing as they are, and with --leave also those that have
  // begun.
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
