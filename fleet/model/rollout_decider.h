// The class that makes one decision about a rollout, for rollout_decision.h. Its functions are in
// two files: rollout_decision.cc goes on with a rollout, rollout_abort.cc lets nodes go back.
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
  using What = std::variant<Wait, WantLease, Write, Over>;
  using Ids = std::vector<std::string>;

  RolloutDecider(const RolloutView& view, const DriverFacts& facts, Ms now);

  [[nodiscard]] What decide();
  // The waits as they have begun by then.
  [[nodiscard]] const RolloutMarks& marks() const { return marks_; }

 private:
  // Another batch is waited for anew.
  static RolloutMarks marks_of(const RolloutView& view, const DriverFacts& facts);
  [[nodiscard]] const RolloutTerms& terms() const { return view_.rollout->terms; }
  [[nodiscard]] bool is_abort_wanted() const;

  // ---- what is written

  // Records endings; those of nodes that are confirmed are recorded with the batch's end.
  std::optional<What> record_endings(bool confirmed_too);
  What give(const Ids& nodes, RolloutStep step, BatchPhase phase);
  void mark(RolloutStep step);
  [[nodiscard]] Ms ttl_of(RolloutStep step) const;

  // ---- the rollout

  What roll();
  What next_order();
  // By `stop`, or by a window.
  [[nodiscard]] bool is_held_back() const;
  [[nodiscard]] What wait_to_begin() const;
  [[nodiscard]] bool is_any(NodeStage stage, Standing what) const;
  [[nodiscard]] What wait_for_answers() const;
  What end_batch();
  What complete();
  // A rollout whose version no node has kept is not completed, though fewer have failed than may.
  std::string end(Rollout& rollout) const;
  What pause(const std::string& why);

  // ---- nodes go back: in rollout_abort.cc

  // Waits for the judge, or lets the batch go back: all of it, since one node was told to.
  std::optional<What> go_back_unjudged(const Ids& ready);
  [[nodiscard]] Ms judged_by() const;
  [[nodiscard]] std::string why_abort() const;
  // Why a rollout of which a batch is missing is aborted.
  [[nodiscard]] std::string no_batch() const;
  What begin_abort(const std::string& why);
  What abort();
  // Nodes that have begun nothing, and with --leave also those that have.
  std::optional<What> leave_untouched();

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
