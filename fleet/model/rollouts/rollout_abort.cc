// The functions of RolloutDecider that bring nodes back to the old version.
#include <algorithm>

#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_decider.h"
#include "fleet/model/rollouts/rollout_draft.h"
#include "fleet/model/rollouts/rollout_wish.h"

namespace fleet {

using What = RolloutDecider::What;

std::optional<What> RolloutDecider::go_back_unjudged(const Ids& ready) {
  const bool goes_back = !batch_.in(NodeStage::rolling_back).empty();
  if (!goes_back) {
    if (ready.empty() || view_.rollout->phase == BatchPhase::confirming) return std::nullopt;
    const GatesNow asked = gates();
    if (auto step = wait_to_be_judged(asked)) return step;
    if (why_unjudged(asked).empty()) return std::nullopt;
  }
  auto back = batch_.in(NodeStage::rolling_back, Standing::interrupted);
  append(back, ready);
  if (!back.empty()) return give(back, RolloutStep::rollback, view_.rollout->phase);
  if (is_any_pending(NodeStage::rolling_back)) return wait_for_answers();
  return std::nullopt;
}

std::optional<What> RolloutDecider::wait_to_be_judged(const GatesNow& gates) {
  if (!gates.worse.empty()) return abort_by(gates);
  const std::string why = why_unjudged(gates);
  if (why.empty()) return std::nullopt;
  if (!gates.stands.empty() && is_gate_news(view_.rollout->gates, gates.stands)) {
    RolloutWriter writer(view_, facts_);
    writer.rollout().gates = gates.stands;
    return Write{writer.transaction(), "waits: " + brief(why)};
  }
  if (!marks_.judge) marks_.judge = now_;
  if (now_ >= judged_by()) return std::nullopt;
  if (gates.is_to_ask) return WantGates{};
  return Wait{gates.next ? std::min(*gates.next, judged_by()) : judged_by()};
}

What RolloutDecider::abort_by(const GatesNow& gates) {
  RolloutWriter writer(view_, facts_);
  Rollout& rollout = writer.rollout();
  rollout.state = RolloutState::aborting;
  rollout.undo = terms().undo;
  rollout.gates = gates.stands;
  rollout.reason = brief(gates.worse);
  return Write{writer.transaction(), "aborts: " + rollout.reason};
}

std::string RolloutDecider::why_unjudged(const GatesNow& gates) const {
  const std::string between = facts_.unjudged.empty() || gates.not_known.empty() ? "" : "; ";
  return facts_.unjudged + between + gates.not_known;
}

Ms RolloutDecider::judged_by() const {
  const Ms by = *marks_.judge + judge_timeout_ms(terms());
  return std::min(by, marks_.apply.value_or(now_) + confirm_ms(terms()) - confirm_margin_ms);
}

// ---- the abort of a rollout

std::string RolloutDecider::why_abort() const {
  return facts_.denied.empty() ? asked_for(*view_.rollout) : facts_.denied;
}

// Returns the reason to abort a rollout if the batch under way has no record. All batches are
// written before a rollout begins, so either this record was lost, or somebody has changed the
// number of batches.
std::string RolloutDecider::no_batch() const {
  return "batch " + std::to_string(view_.rollout->batch + 1) + " of " +
         std::to_string(view_.rollout->batches) + " is not there, or has no nodes";
}

What RolloutDecider::begin_abort(const std::string& why) {
  RolloutWriter writer(view_, facts_);
  writer.rollout().state = RolloutState::aborting;
  writer.rollout().reason = why;
  return Write{writer.transaction(), "aborts: " + writer.rollout().reason};
}

What RolloutDecider::abort() {
  if (auto write = leave_untouched()) return *write;
  if (auto write = record_endings(true)) return *write;
  auto begun = batch_.in(NodeStage::rolling_back, Standing::interrupted);
  append(begun, batch_.in(NodeStage::applying));
  append(begun, batch_.in(NodeStage::confirming));
  // A node that prepares now, during the abort, has already got the order to `apply`, and was
  // interrupted. (leave_untouched() has ended all nodes without that order.) The node may run the
  // new version, so it must go back.
  append(begun, batch_.in(NodeStage::preparing));
  if (!begun.empty()) return give(begun, RolloutStep::rollback, view_.rollout->phase);
  if (is_any_pending(NodeStage::rolling_back)) return wait_for_answers();
  RolloutWriter writer(view_, facts_);
  Rollout& rollout = writer.rollout();
  rollout.state = RolloutState::aborted;
  rollout.order = RolloutOrder::none;
  if (!rollout.undo || rollout.batches == 0)
    return Write{writer.transaction(), "aborted: " + view_.rollout->reason};
  begin_undo(rollout);
  return Write{writer.transaction(), "is undone: " + view_.rollout->reason};
}

std::optional<What> RolloutDecider::leave_untouched() {
  const bool leave = view_.rollout->order == RolloutOrder::abort_and_leave;
  RolloutWriter writer(view_, facts_);
  bool any = false;
  for (const RolloutBatchNow::Node& node : batch_.nodes()) {
    if (node.stand.what == Standing::ended || ending_of(node)) continue;
    if ((node.record.applied && !leave) || !writer.has_room()) continue;
    writer.end({node.id, NodeStage::left, "the rollout was aborted"});
    any = true;
  }
  if (!any) return std::nullopt;
  return Write{writer.transaction(), ""};
}

// ---- the undo of a rollout

What RolloutDecider::undo() {
  if (!view_.rollout->wish_refused) {
    RolloutWriter writer(view_, facts_);
    writer.refuse_wish();
    return Write{writer.transaction(), ""};
  }
  if (auto write = record_endings(true)) return *write;
  return next_order();
}

What RolloutDecider::end_undone_batch() {
  RolloutWriter writer(view_, facts_);
  Rollout& rollout = writer.rollout();
  const bool is_first = rollout.undo_now || rollout.batch == 0;
  if (!is_first) {
    const std::string number = std::to_string(rollout.batch + 1);
    --rollout.batch;
    return Write{writer.transaction(),
                 "batch " + number + " of " + std::to_string(rollout.batches) + " is undone"};
  }
  rollout.state = RolloutState::undone;
  rollout.order = RolloutOrder::none;
  rollout.phase = BatchPhase::unknown;
  const std::string kept = std::to_string(rollout.kept) + " have kept " + terms().version;
  return Write{writer.transaction(), "undone" + (rollout.kept == 0 ? "" : ", but " + kept)};
}

}  // namespace fleet
