#include "fleet/model/plan_part.h"

namespace fleet {

PlanPart::PlanPart(std::string node, std::string plan, std::string version, std::string boot)
    : facts_{.node = std::move(node),
             .plan = std::move(plan),
             .version = std::move(version),
             .boot = std::move(boot)} {}

FollowerStep PlanPart::step(const PlanPartEvent& event) {
  std::visit([this](const auto& what) { take(what); }, event);
  return next();
}

void PlanPart::take(const PlanSeen& event) {
  looks_ = false;
  facts_.active = event.active;
  sight_.takes_part = event.sight.takes_part;
  sight_.plan = event.sight.plan;
  sight_.revision = event.sight.revision;
  // A revision that has become smaller means that the store was restored from a snapshot.
  if (event.as_of < std::exchange(as_of_, event.as_of)) written_ = 0;
  if (event.as_of < written_ || event.sight.own_revision == sight_.own_revision) return;
  const PlanMember& own = event.sight.own;
  const bool is_ours = unknown_ == own || (pending_ && pending_->member == own);
  take_own(own, event.sight.own_revision, is_ours);
}

void PlanPart::take_own(const PlanMember& own, Revision revision, bool is_ours) {
  const bool moved = own.step != sight_.own.step || own.phase != sight_.own.phase;
  if (moved) {
    facts_.done.clear();
    facts_.began_to_act =
        is_ours && (own.phase == MemberPhase::acting || own.phase == MemberPhase::rebooting);
    outdated_ = running_.has_value();
  }
  sight_.own = own;
  sight_.own_revision = revision;
  unknown_.reset();
}

void PlanPart::take(const HookEnded& event) {
  if (!running_) return;
  const HookVerb verb = std::exchange(running_, std::nullopt)->verb;
  if (std::exchange(outdated_, false)) return;
  facts_.done[verb] = event.status;
  facts_.output = event.output;
}

void PlanPart::take(const MemberWritten& event) {
  if (!pending_) return;
  const WriteMember write = *std::exchange(pending_, std::nullopt);
  if (const auto* done = std::get_if<Committed>(&event.outcome)) {
    written_ = done->revision;
    return take_own(write.member, done->revision, true);
  }
  if (std::holds_alternative<Unknown>(event.outcome)) {
    unknown_ = write.member;
    looks_ = true;
  } else {
    // The transaction was refused, most likely because a record has changed. Decide nothing more
    // with the old records, since the changed record will arrive soon.
    refused_ = decided_on_;
  }
}

FollowerStep PlanPart::next() {
  if (is_busy() || looks_ || facts_.active == 0 || sight_.revision == 0) return NothingToDo{};
  const Basis now{sight_.revision, sight_.own_revision};
  if (refused_ == now) return NothingToDo{};
  refused_.reset();
  FollowerStep step = follow(sight_, facts_);
  if (const auto* hook = std::get_if<RunHook>(&step)) running_ = *hook;
  if (const auto* write = std::get_if<WriteMember>(&step)) pending_ = *write;
  decided_on_ = now;
  return step;
}

}  // namespace fleet
