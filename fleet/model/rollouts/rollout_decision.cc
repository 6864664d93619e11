#include "fleet/model/rollouts/rollout_decision.h"

#include <algorithm>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_decider.h"
#include "fleet/model/rollouts/rollout_draft.h"
#include "fleet/model/rollouts/rollout_wish.h"

namespace fleet {

using What = RolloutDecider::What;

RolloutDecider::RolloutDecider(const RolloutView& view, const DriverFacts& facts, Ms now)
    : view_(view),
      facts_(facts),
      marks_(marks_of(view, facts)),
      now_(now),
      batch_(view, marks_, now) {}

What RolloutDecider::decide() {
  switch (view_.rollout->state) {
    case RolloutState::created:
      return Over{"it is not written whole yet"};
    case RolloutState::aborted:
    case RolloutState::completed:
    case RolloutState::undone:
      return Over{std::string(text_of(view_.rollout->state))};
    case RolloutState::unknown:
      return Over{"its state is of a later version"};
    case RolloutState::paused:
      return is_abort_wanted() ? begin_abort(why_abort()) : What{Wait{}};
    case RolloutState::aborting:
      return abort();
    case RolloutState::rolling:
      return roll();
    case RolloutState::undoing:
      return undo();
    case RolloutState::baking:
      return bake();
  }
  return Wait{};
}

RolloutMarks RolloutDecider::marks_of(const RolloutView& view, const DriverFacts& facts) {
  const std::int64_t turn = turn_of(*view.rollout);
  return facts.marks.batch == turn ? facts.marks : RolloutMarks{.batch = turn};
}

bool RolloutDecider::is_abort_wanted() const {
  return view_.rollout->order == RolloutOrder::abort ||
         view_.rollout->order == RolloutOrder::abort_and_leave || !facts_.denied.empty();
}

// ---- writes

std::optional<What> RolloutDecider::record_endings(bool confirmed_too) {
  RolloutWriter writer(view_, facts_);
  std::string news;
  bool any = false;
  for (const RolloutBatchNow::Node& node : batch_.nodes()) {
    const auto ending = ending_of(node);
    if (!ending || (ending->stage == NodeStage::confirmed && !confirmed_too)) continue;
    if (!writer.has_room()) break;
    writer.end(*ending);
    if (!ending->error.empty()) news += (news.empty() ? "" : "; ") + node.id + ": " + ending->error;
    any = true;
  }
  if (!any) return std::nullopt;
  news = brief(news);
  Rollout& rollout = writer.rollout();
  const std::string why = why_too_many(view_, batch_, rollout.failed);
  if (rollout.state == RolloutState::rolling && !why.empty()) {
    rollout.state = RolloutState::aborting;
    rollout.undo = terms().undo;
    rollout.reason = why + ": " + news;
  }
  return Write{writer.transaction(), news};
}

What RolloutDecider::give(const Ids& nodes, RolloutStep step, BatchPhase phase) {
  const bool begins = step == RolloutStep::prepare || step == RolloutStep::apply;
  const StepLease wanted{turn_of(*view_.rollout), step, 0};
  if (!facts_.lease || facts_.lease->batch != wanted.batch || facts_.lease->step != step) {
    // At the end of the lease, the store erases the commands. So the lease must last until all
    // nodes have begun.
    return WantLease{step, ttl_of(step) + (begins ? batch_.spread() : 0)};
  }
  RolloutWriter writer(view_, facts_);
  if (begins && !undoes()) writer.begins_something();
  if (step == RolloutStep::apply && !facts_.controls.empty()) return ask_control(writer);
  writer.rollout().phase = phase;
  const bool is_unjudged = step == RolloutStep::rollback &&
                           view_.rollout->state == RolloutState::rolling &&
                           view_.rollout->reason.empty();
  const GatesNow asked = gates();
  if (!asked.stands.empty()) writer.rollout().gates = asked.stands;
  if (is_unjudged) writer.rollout().reason = brief("not judged: " + why_unjudged(asked));
  const bool has_whole_time = begins && !batch_.is_any_on_trial();
  for (const std::string& id : nodes) {
    if (!writer.has_room()) break;
    writer.order(id, batch_.standing_of(id), step, ttl_of(step), begins ? batch_.delay_of(id) : 0);
    if (has_whole_time) marks_.held.erase(id);
  }
  mark(step);
  writer.rollout().waits_for.clear();
  return Write{writer.transaction(), ""};
}

// Asks nodes of the control group (nodes that keep the old version, for comparison) for their
// health. The questions are records with the same lease as the batch's commands, so the store
// erases both at the same time.
What RolloutDecider::ask_control(RolloutWriter& writer) const {
  for (const std::string& id : facts_.controls) {
    if (!writer.has_room()) break;
    writer.ask_control(id);
  }
  return Write{writer.transaction(), ""};
}

void RolloutDecider::mark(RolloutStep step) {
  if (step == RolloutStep::prepare) marks_.prepare = now_;
  // If no node is on trial, the time for `apply` begins anew with the next `apply`.
  if (step == RolloutStep::prepare && !batch_.is_any_on_trial()) marks_.apply.reset();
  // The wait begins with the first nodes that get the order. The mark of an earlier decision does
  // not count if the store did not carry that decision out.
  if (step == RolloutStep::apply && batch_.in(NodeStage::applying).empty()) marks_.apply = now_;
  if (step == RolloutStep::confirm) marks_.confirm = now_;
  if (step == RolloutStep::rollback) marks_.rollback = now_;
}

Ms RolloutDecider::ttl_of(RolloutStep step) const {
  switch (step) {
    case RolloutStep::prepare:
      return prepare_ms;
    case RolloutStep::apply:
      return confirm_ms(terms()) - confirm_margin_ms - (undoes() ? 0 : terms().soak_ms);
    case RolloutStep::confirm:
      return confirm_answer_ms;
    case RolloutStep::rollback:
      return rollback_ms;
  }
  return 0;
}

// ---- the rollout

What RolloutDecider::roll() {
  if (is_abort_wanted()) return begin_abort(why_abort());
  if (view_.rollout->batch >= view_.rollout->batches) return complete();
  if (batch_.nodes().empty()) return begin_abort(no_batch());
  if (auto write = record_endings(false)) return *write;
  if (facts_.judge) return judged(view_, facts_);
  if (view_.rollout->phase == BatchPhase::pausing && !batch_.has_begun()) {
    if (!marks_.pause) marks_.pause = now_;
    if (view_.rollout->order == RolloutOrder::pause) return pause(asked_for(*view_.rollout));
    if (now_ < *marks_.pause + terms().pause_ms) return Wait{*marks_.pause + terms().pause_ms};
  }
  if (view_.rollout->order == RolloutOrder::pause && !batch_.has_begun())
    return pause(asked_for(*view_.rollout));
  return next_order();
}

What RolloutDecider::next_order() {
  auto begin = batch_.in(Standing::waiting);
  append(begin, batch_.in(NodeStage::preparing, Standing::interrupted));
  append(begin, batch_.in(NodeStage::applying, Standing::interrupted));
  const bool is_held =
      is_held_back() && (!begin.empty() || !batch_.in(NodeStage::preparing).empty());
  if (!is_held) {
    if (!begin.empty()) return give(begin, RolloutStep::prepare, BatchPhase::preparing);
    if (is_any_pending(NodeStage::preparing)) return wait_for_answers();
    if (const auto ready = batch_.in(NodeStage::preparing, Standing::ready); !ready.empty()) {
      if (auto step = take_places(ready)) return *step;
      return give(ready, RolloutStep::apply, BatchPhase::applying);
    }
  }
  // Nodes that have the new version get their `confirm` even if another node of the batch has to
  // prepare again, and is held back by the record `stop` or by a closed window.
  const bool is_moving = is_any_pending(NodeStage::applying);
  auto ready = batch_.in(NodeStage::applying, Standing::ready);
  append(ready, batch_.in(NodeStage::confirming, Standing::interrupted));
  if (is_held && (is_moving || ready.empty())) return wait_to_begin();
  if (is_moving) return wait_for_answers();
  if (auto back = undoes() ? std::nullopt : go_back_unjudged(ready)) return *back;
  if (!ready.empty()) return give(ready, RolloutStep::confirm, BatchPhase::confirming);
  if (is_any_pending(NodeStage::confirming)) return wait_for_answers();
  if (auto write = record_endings(true)) return *write;
  return undoes() ? end_undone_batch() : end_batch();
}

std::optional<What> RolloutDecider::take_places(const Ids& nodes) {
  if (facts_.budgets == nullptr || (undoes() && view_.rollout->undo_now)) return std::nullopt;
  RolloutWriter writer(view_, facts_);
  const PlacesAnswer answer = facts_.budgets->ask(claim_of(view_), nodes, writer.places_room());
  if (!answer.impossible.empty()) {
    // The batch has more nodes than the budget has places, so it would wait for ever: pause the
    // rollout. An undo is not paused. It waits until a person makes the budget larger, and then
    // continues.
    if (undoes()) return give_places_back(nodes, answer.impossible);
    if (auto frees = freed_places(view_, facts_, nodes)) return *frees;
    return pause("more nodes of the batch than places: " + answer.impossible);
  }
  if (!answer.waits_for.empty()) return give_places_back(nodes, answer.waits_for);
  if (answer.has_all) return std::nullopt;
  writer.take_places(answer);
  writer.rollout().waits_for.clear();
  return Write{writer.transaction(), ""};
}

// Gives back the places of budgets (see budgets.h) that these nodes have, so that other rollouts
// and plans can use them while this rollout waits for more places. The rollout's record then says
// for which places the rollout waits.
What RolloutDecider::give_places_back(const Ids& nodes, const std::string& waits_for) {
  RolloutWriter writer(view_, facts_);
  bool is_news = view_.rollout->waits_for != brief(waits_for);
  writer.rollout().waits_for = brief(waits_for);
  for (const std::string& id : nodes) {
    if (!writer.has_room()) break;
    is_news = writer.free_places(id) || is_news;
  }
  if (is_news) return Write{writer.transaction(), "waits for places: " + brief(waits_for)};
  return wait_for_answers();
}

bool RolloutDecider::is_held_back() const {
  return !undoes() && (view_.stopped || !facts_.window.is_open);
}

// Waits until nodes may begin a step again, which may last for hours. So this function first gives
// back the budget places of the nodes that prepare, for other rollouts and plans.
What RolloutDecider::wait_to_begin() const {
  if (auto frees = freed_places(view_, facts_, batch_.in(NodeStage::preparing))) return *frees;
  const auto answer = batch_.first_answer_by();
  const auto opens = facts_.window.until;
  return Wait{answer && opens ? std::min(answer, opens) : answer ? answer : opens};
}

bool RolloutDecider::is_any_pending(NodeStage stage) const {
  return !batch_.in(stage, Standing::pending).empty();
}

// Pauses a rollout whose batch has gone back because the judge or a gate gave no verdict on it.
// When a person resumes the rollout, this batch is done again.
What RolloutDecider::pause_unjudged(const Ids& nodes) {
  RolloutWriter writer(view_, facts_);
  Rollout& rollout = writer.rollout();
  ++rollout.again;
  rollout.phase = BatchPhase::unknown;
  rollout.state = RolloutState::paused;
  if (rollout.reason.empty()) rollout.reason = "not judged: " + listed(nodes);
  return Write{writer.transaction(), "batch " + std::to_string(rollout.batch + 1) + " of " +
                                         std::to_string(rollout.batches) +
                                         " went back, and the rollout pauses: " + rollout.reason};
}

What RolloutDecider::end_batch() {
  if (const Ids unjudged = batch_.unjudged(); !unjudged.empty()) return pause_unjudged(unjudged);
  RolloutWriter writer(view_, facts_);
  Rollout& rollout = writer.rollout();
  ++rollout.batch;
  rollout.again = 0;
  const bool last = rollout.batch >= rollout.batches;
  rollout.phase = last ? BatchPhase::unknown : BatchPhase::pausing;
  std::string news = "batch " + std::to_string(rollout.batch) + " of " +
                     std::to_string(rollout.batches) + " is done";
  std::string why = last ? "" : why_untried(view_, batch_);
  if (const auto unconfirmed = batch_.in(NodeStage::unconfirmed); !unconfirmed.empty()) {
    why = "unconfirmed: " + listed(unconfirmed);
  } else if (const auto back = batch_.in(NodeStage::rolled_back); !back.empty()) {
    why = rollout.reason.empty() ? "went back: " + listed(back) : rollout.reason;
  }
  if (!why.empty()) {
    rollout.state = RolloutState::paused;
    rollout.reason = why;
    news += ", and the rollout pauses: " + why;
  } else if (last) {
    news = end(rollout);
  }
  return Write{writer.transaction(), news};
}

What RolloutDecider::complete() {
  RolloutWriter writer(view_, facts_);
  const std::string news = end(writer.rollout());
  return Write{writer.transaction(), news};
}

std::string RolloutDecider::end(Rollout& rollout) const {
  const bool is_kept = has_kept_node(view_);
  rollout.order = RolloutOrder::none;
  // The reason may still name the gates for which the bake was waiting, but the bake is over now.
  if (rollout.state == RolloutState::baking) rollout.reason.clear();
  const bool bakes = is_kept && terms().bake_ms > 0 && rollout.state != RolloutState::baking;
  rollout.state = bakes ? RolloutState::baking : RolloutState::completed;
  if (bakes) return "every batch is done, and the rollout bakes";
  if (is_kept || view_.batches.empty()) return "completed";
  rollout.state = RolloutState::aborted;
  rollout.reason = "no node has kept " + terms().version;
  return "aborted: " + rollout.reason;
}

What RolloutDecider::bake() {
  if (is_abort_wanted()) return begin_abort(why_abort());
  if (facts_.judge) return judged(view_, facts_);
  const GatesNow asked = gates();
  if (!asked.worse.empty()) return abort_by(asked);
  const Rollout& now = *view_.rollout;
  if (!marks_.bake) marks_.bake = now_ - now.baked_ms;
  const Ms baked = now_ - *marks_.bake;
  const bool is_baked = baked >= terms().bake_ms;
  if (is_baked && asked.not_known.empty()) return complete();
  const Ms next_note = now.baked_ms + std::max<Ms>(terms().bake_ms / bake_notes, 1);
  const bool is_news = !asked.stands.empty() && is_gate_news(now.gates, asked.stands);
  if ((baked >= next_note && !is_baked) || is_news) {
    RolloutWriter writer(view_, facts_);
    writer.rollout().baked_ms = std::min(baked, terms().bake_ms);
    if (is_news) writer.rollout().gates = asked.stands;
    return Write{writer.transaction(), ""};
  }
  if (asked.is_to_ask) return WantGates{};
  if (is_baked) return hold_bake(asked);
  Ms until = *marks_.bake + std::min(next_note, terms().bake_ms);
  if (asked.next) until = std::min(until, *asked.next);
  return Wait{until};
}

// The time of the bake has passed, but a gate has given no verdict, so the rollout has to wait.
// Writes the names of these gates into the rollout's record.
What RolloutDecider::hold_bake(const GatesNow& gates) const {
  const std::string why = brief("its bake has passed, and it waits: " + gates.not_known);
  if (gates.stands.empty() || view_.rollout->reason == why) return Wait{gates.next};
  RolloutWriter writer(view_, facts_);
  writer.rollout().reason = why;
  return Write{writer.transaction(), why};
}

What RolloutDecider::pause(const std::string& why) {
  RolloutWriter writer(view_, facts_);
  writer.rollout().state = RolloutState::paused;
  writer.rollout().order = RolloutOrder::none;
  writer.rollout().reason = why;
  return Write{writer.transaction(), "paused: " + why};
}

RolloutDecision decide(const RolloutView& view, const DriverFacts& facts, Ms now) {
  if (!view.damage.empty()) return {Over{view.damage}, facts.marks};
  if (!view.rollout) return {Over{"it is not there"}, facts.marks};
  RolloutDecider decider(view, facts, now);
  What what = decider.decide();
  return {std::move(what), decider.marks()};
}

}  // namespace fleet
