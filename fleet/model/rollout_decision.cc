#include "fleet/model/rollout_decision.h"

#include <algorithm>

#include "fleet/model/enum_text.h"
#include "fleet/model/record_brief.h"
#include "fleet/model/rollout_batch.h"
#include "fleet/model/rollout_draft.h"
#include "fleet/model/rollout_wish.h"
#include "fleet/model/rollout_writer.h"

namespace fleet {
namespace {

using What = std::variant<Wait, WantLease, Write, Over>;

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// One decision.
class RolloutDecider {
 public:
  RolloutDecider(const RolloutView& view, const DriverFacts& facts, Ms now)
      : view_(view),
        facts_(facts),
        marks_(marks_of(view, facts)),
        now_(now),
        batch_(view, marks_, now) {}

  What decide() {
    switch (view_.rollout->state) {
      case RolloutState::created:
        return Over{"it is not written whole yet"};
      case RolloutState::aborted:
      case RolloutState::completed:
        return Over{std::string(text_of(view_.rollout->state))};
      case RolloutState::unknown:
        return Over{"its state is of a later version"};
      case RolloutState::paused:
        return is_abort_wanted() ? begin_abort(why_abort()) : What{Wait{}};
      case RolloutState::aborting:
        return abort();
      case RolloutState::rolling:
        return roll();
    }
    return Wait{};
  }

  [[nodiscard]] const RolloutMarks& marks() const { return marks_; }

 private:
  // Another batch is waited for anew.
  static RolloutMarks marks_of(const RolloutView& view, const DriverFacts& facts) {
    if (facts.marks.batch == view.rollout->batch) return facts.marks;
    return {.batch = view.rollout->batch};
  }

  [[nodiscard]] const RolloutTerms& terms() const { return view_.rollout->terms; }

  [[nodiscard]] bool is_abort_wanted() const {
    return view_.rollout->order == RolloutOrder::abort ||
           view_.rollout->order == RolloutOrder::abort_and_leave || !facts_.denied.empty();
  }

  // ---- what is written

  // Records endings; those of nodes that are confirmed are recorded with the batch's end.
  std::optional<What> record_endings(bool confirmed_too) {
    RolloutWriter writer(view_, facts_);
    std::string news;
    bool any = false;
    for (const RolloutBatchNow::Node& node : batch_.nodes()) {
      const auto ending = ending_of(node);
      if (!ending || (ending->stage == NodeStage::confirmed && !confirmed_too)) continue;
      if (!writer.has_room()) break;
      writer.end(*ending);
      if (!ending->error.empty())
        news += (news.empty() ? "" : "; ") + node.id + ": " + ending->error;
      any = true;
    }
    if (!any) return std::nullopt;
    news = brief(news);
    Rollout& rollout = writer.rollout();
    const std::string why = why_too_many(view_, batch_, rollout.failed);
    if (rollout.state == RolloutState::rolling && !why.empty()) {
      rollout.state = RolloutState::aborting;
      rollout.reason = why + ": " + news;
    }
    return Write{writer.transaction(), news};
  }

  What give(const std::vector<std::string>& nodes, RolloutStep step, BatchPhase phase) {
    const bool begins = step == RolloutStep::prepare || step == RolloutStep::apply;
    const StepLease wanted{view_.rollout->batch, step, 0};
    if (!facts_.lease || facts_.lease->batch != wanted.batch || facts_.lease->step != step) {
      // It lasts until the last node may still begin.
      return WantLease{step, ttl_of(step) + (begins ? batch_.spread() : 0)};
    }
    RolloutWriter writer(view_, facts_);
    if (begins) writer.begins_something();
    writer.rollout().phase = phase;
    for (const std::string& id : nodes) {
      if (!writer.has_room()) break;
      writer.order(id, step, ttl_of(step), begins ? batch_.delay_of(id) : 0);
    }
    mark(step);
    return Write{writer.transaction(), ""};
  }

  void mark(RolloutStep step) {
    if (step == RolloutStep::prepare) marks_.prepare = now_;
    if (step == RolloutStep::apply && !marks_.apply) marks_.apply = now_;
    if (step == RolloutStep::confirm) marks_.confirm = now_;
    if (step == RolloutStep::rollback) marks_.rollback = now_;
  }

  [[nodiscard]] Ms ttl_of(RolloutStep step) const {
    switch (step) {
      case RolloutStep::prepare:
        return prepare_ms;
      case RolloutStep::apply:
        return confirm_ms(terms()) - confirm_margin_ms - terms().soak_ms;
      case RolloutStep::confirm:
        return confirm_answer_ms;
      case RolloutStep::rollback:
        return rollback_ms;
    }
    return 0;
  }

  // ---- the rollout

  What roll() {
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

  What next_order() {
    auto begin = batch_.in(NodeStage::waiting, Standing::waiting);
    append(begin, batch_.in(NodeStage::preparing, Standing::interrupted));
    append(begin, batch_.in(NodeStage::applying, Standing::interrupted));
    if (!begin.empty()) {
      if (is_held_back()) return wait_to_begin();
      return give(begin, RolloutStep::prepare, BatchPhase::preparing);
    }
    if (is_any(NodeStage::preparing, Standing::pending)) return wait_for_answers();
    if (const auto ready = batch_.in(NodeStage::preparing, Standing::ready); !ready.empty()) {
      if (is_held_back()) return wait_to_begin();
      return give(ready, RolloutStep::apply, BatchPhase::applying);
    }
    if (is_any(NodeStage::applying, Standing::pending)) return wait_for_answers();
    auto ready = batch_.in(NodeStage::applying, Standing::ready);
    append(ready, batch_.in(NodeStage::confirming, Standing::interrupted));
    if (!ready.empty()) return give(ready, RolloutStep::confirm, BatchPhase::confirming);
    if (is_any(NodeStage::confirming, Standing::pending)) return wait_for_answers();
    if (auto write = record_endings(true)) return *write;
    return end_batch();
  }

  // By `stop`, or by a window.
  [[nodiscard]] bool is_held_back() const { return view_.stopped || !facts_.window.is_open; }

  [[nodiscard]] What wait_to_begin() const {
    const auto answer = batch_.first_answer_by();
    const auto opens = facts_.window.until;
    return Wait{answer && opens ? std::min(answer, opens) : answer ? answer : opens};
  }

  [[nodiscard]] bool is_any(NodeStage stage, Standing what) const {
    return !batch_.in(stage, what).empty();
  }

  [[nodiscard]] What wait_for_answers() const { return Wait{batch_.first_answer_by()}; }

  What end_batch() {
    RolloutWriter writer(view_, facts_);
    Rollout& rollout = writer.rollout();
    ++rollout.batch;
    const bool last = rollout.batch >= rollout.batches;
    rollout.phase = last ? BatchPhase::unknown : BatchPhase::pausing;
    const std::vector<std::string> unconfirmed = batch_.in(NodeStage::unconfirmed);
    std::string news = "batch " + std::to_string(rollout.batch) + " of " +
                       std::to_string(rollout.batches) + " is done";
    if (!unconfirmed.empty()) {
      rollout.state = RolloutState::paused;
      rollout.reason = "unconfirmed: " + listed(unconfirmed);
      news += ", and the rollout pauses: " + rollout.reason;
    } else if (last) {
      news = end(rollout);
    }
    return Write{writer.transaction(), news};
  }

  What complete() {
    RolloutWriter writer(view_, facts_);
    const std::string news = end(writer.rollout());
    return Write{writer.transaction(), news};
  }

  // A rollout whose version no node has kept is not completed, though fewer have failed than may.
  std::string end(Rollout& rollout) const {
    const bool is_kept = std::any_of(view_.nodes.begin(), view_.nodes.end(), [](const auto& one) {
      return one.second.node.stage == NodeStage::confirmed;
    });
    rollout.order = RolloutOrder::none;
    rollout.state = RolloutState::completed;
    if (is_kept || view_.batches.empty()) return "completed";
    rollout.state = RolloutState::aborted;
    rollout.reason = "no node has kept " + terms().version;
    return "aborted: " + rollout.reason;
  }

  What pause(const std::string& why) {
    RolloutWriter writer(view_, facts_);
    writer.rollout().state = RolloutState::paused;
    writer.rollout().order = RolloutOrder::none;
    writer.rollout().reason = why;
    return Write{writer.transaction(), "paused: " + why};
  }

  // ---- its abort

  [[nodiscard]] std::string why_abort() const {
    return facts_.denied.empty() ? asked_for(*view_.rollout) : facts_.denied;
  }

  // All batches are written before a rollout begins. If a record is lost, nobody knows which nodes
  // were meant; and a number of batches that somebody has made up may be as large as he likes.
  [[nodiscard]] std::string no_batch() const {
    return "batch " + std::to_string(view_.rollout->batch + 1) + " of " +
           std::to_string(view_.rollout->batches) + " is not there, or has no nodes";
  }

  What begin_abort(const std::string& why) {
    RolloutWriter writer(view_, facts_);
    writer.rollout().state = RolloutState::aborting;
    writer.rollout().reason = why;
    return Write{writer.transaction(), "aborts: " + writer.rollout().reason};
  }

  What abort() {
    if (auto write = leave_untouched()) return *write;
    if (auto write = record_endings(true)) return *write;
    auto begun = batch_.in(NodeStage::rolling_back, Standing::interrupted);
    append(begun, batch_.in(NodeStage::applying));
    append(begun, batch_.in(NodeStage::confirming));
    append(begun, batch_.in(NodeStage::preparing));  // again: its `apply` was interrupted
    if (!begun.empty()) return give(begun, RolloutStep::rollback, view_.rollout->phase);
    if (is_any(NodeStage::rolling_back, Standing::pending)) return wait_for_answers();
    RolloutWriter writer(view_, facts_);
    writer.rollout().state = RolloutState::aborted;
    writer.rollout().order = RolloutOrder::none;
    return Write{writer.transaction(), "aborted: " + view_.rollout->reason};
  }

  // Nodes that have begun nothing, and with --leave also those that have.
  std::optional<What> leave_untouched() {
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

  const RolloutView& view_;
  const DriverFacts& facts_;
  RolloutMarks marks_;
  Ms now_;
  RolloutBatchNow batch_;
};

}  // namespace

RolloutDecision decide(const RolloutView& view, const DriverFacts& facts, Ms now) {
  if (!view.damage.empty()) return {Over{view.damage}, facts.marks};
  if (!view.rollout) return {Over{"it is not there"}, facts.marks};
  RolloutDecider decider(view, facts, now);
  What what = decider.decide();
  return {std::move(what), decider.marks()};
}

}  // namespace fleet
