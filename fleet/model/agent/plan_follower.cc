#include "fleet/model/agent/plan_follower.h"

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

class Follower {
 public:
  Follower(const PlanSight& sight, const FollowerFacts& facts)
      : plan_(sight.plan), own_(sight.own), sight_(sight), facts_(facts) {}

  FollowerStep follow() const {
    if (!sight_.takes_part) return NothingToDo{};
    if (plan_.state == PlanState::running) {
      if (sight_.revision < sight_.restored) return NothingToDo{};
      if (sight_.own_revision == 0 || own_.step == 0) return next(1, "");
      if (plan_.step == 0 && own_.version != facts_.version) return next(1, "");
      if (own_.error || own_.phase == MemberPhase::unknown) return NothingToDo{};
      return run();
    }
    if (plan_.state == PlanState::stopping && sight_.own_revision != 0) return stop();
    return NothingToDo{};
  }

 private:
  [[nodiscard]] bool has_lock() const { return plan_.lock == facts_.node; }
  [[nodiscard]] bool is_done(HookVerb verb) const { return facts_.done.contains(verb); }
  [[nodiscard]] int status(HookVerb verb) const { return facts_.done.at(verb); }
  [[nodiscard]] const PlanStep& step() const {
    return plan_.steps[static_cast<std::size_t>(own_.step - 1)];
  }

  // ---- the steps of a member while the plan runs

  FollowerStep run() const {
    if (own_.step > static_cast<std::int64_t>(plan_.steps.size())) {
      return own_.finished ? FollowerStep{NothingToDo{}} : next(own_.step, "");
    }
    if (plan_.step != own_.step) return NothingToDo{};
    if (own_.phase == MemberPhase::acting) return act();
    if (own_.phase == MemberPhase::rebooting) return reboot();
    switch (step().kind) {
      case StepClass::any:
        // `lock` is the last node, in the order of names, that may run the step now. Later nodes
        // wait.
        if (!plan_.lock.empty() && facts_.node > plan_.lock) return NothingToDo{};
        return check_and_begin();
      case StepClass::one_at_a_time:
        return has_lock() ? check_and_begin() : FollowerStep{NothingToDo{}};
      case StepClass::once:
        if (plan_.acting) return next(own_.step + 1, "done for all");
        return has_lock() ? begin_to_act() : FollowerStep{NothingToDo{}};
      case StepClass::together:
        return together();
      case StepClass::unknown:
        return fail("a class of step that this fleet-agent does not know", 0);
    }
    return NothingToDo{};
  }

  FollowerStep check_and_begin() const {
    if (!is_done(HookVerb::check)) return hook(HookVerb::check);
    if (status(HookVerb::check) >= exit_not_run) return fail_of(HookVerb::check);
    if (status(HookVerb::check) != 0)
      return next(own_.step + 1, "skipped: " + ended_text(HookVerb::check));
    return begin_to_act();
  }

  FollowerStep together() const {
    if (own_.phase == MemberPhase::waiting) {
      if (!is_done(HookVerb::stop)) return hook(HookVerb::stop);
      if (status(HookVerb::stop) != 0) return fail_of(HookVerb::stop);
      return write(MemberPhase::stopped);
    }
    const bool migrates = step().migrate && has_lock() && own_.phase == MemberPhase::stopped;
    if (plan_.acting || migrates) return begin_to_act();
    return NothingToDo{};
  }

  FollowerStep begin_to_act() const { return write(MemberPhase::acting); }

  // Returns the next hook of a member in the phase `acting` or, after the last hook, the
  // transaction that records the outcome.
  FollowerStep act() const {
    const bool migrates = step().kind == StepClass::together && !plan_.acting;
    if (!facts_.began_to_act) return fail("interrupted while it acted", 0);
    if (migrates) {
      if (!is_done(HookVerb::migrate)) return hook(HookVerb::migrate);
      if (status(HookVerb::migrate) != 0) return fail_of(HookVerb::migrate);
      return write(MemberPhase::migrated);
    }
    if (!is_done(HookVerb::act)) return hook(HookVerb::act);
    if (status(HookVerb::act) == exit_reboot_required) return write_reboot();
    if (status(HookVerb::act) != 0) return fail_of(HookVerb::act);
    return end_step();
  }

  FollowerStep end_step() const {
    const bool together = step().kind == StepClass::together;
    for (const HookVerb verb : {HookVerb::start, HookVerb::post}) {
      if (verb == HookVerb::start && !together) continue;
      if (!is_done(verb)) return hook(verb);
      if (status(verb) != 0) return fail_of(verb);
    }
    return next(own_.step + 1, "");
  }

  FollowerStep reboot() const {
    if (own_.boot != facts_.boot) return end_step();
    if (!facts_.began_to_act) return NothingToDo{};
    if (!is_done(HookVerb::reboot)) return hook(HookVerb::reboot);
    if (status(HookVerb::reboot) != 0) return fail_of(HookVerb::reboot);
    return NothingToDo{};  // the machine is about to reboot
  }

  // ---- the steps of a member when the plan stops

  FollowerStep stop() const {
    if (own_.phase == MemberPhase::halted || own_.phase == MemberPhase::resumed) {
      return NothingToDo{};
    }
    const bool here = own_.step == plan_.step && own_.step > 0 &&
                      own_.step <= static_cast<std::int64_t>(plan_.steps.size());
    if (here && plan_.back && step().kind == StepClass::together) {
      if (!is_done(HookVerb::start)) return hook(HookVerb::start);
      if (status(HookVerb::start) != 0 && !own_.error) return fail_of(HookVerb::start);
      return write(status(HookVerb::start) == 0 ? MemberPhase::resumed : MemberPhase::halted);
    }
    if (own_.error) return NothingToDo{};
    if (here && own_.phase == MemberPhase::acting) return act();
    if (here && own_.phase == MemberPhase::rebooting) return reboot();
    return write(MemberPhase::halted);
  }

  // ---- the hooks and transactions that a member can begin as its next step

  [[nodiscard]] FollowerStep hook(HookVerb verb) const {
    return RunHook{step().hook, verb, step().name, plan_.version, step().timeout_ms};
  }

  [[nodiscard]] FollowerStep write(MemberPhase phase) const {
    PlanMember member = own_;
    member.phase = phase;
    return write(member);
  }

  [[nodiscard]] FollowerStep write_reboot() const {
    PlanMember member = own_;
    member.phase = MemberPhase::rebooting;
    member.boot = facts_.boot;
    return write(member);
  }

  [[nodiscard]] FollowerStep next(std::int64_t step, const std::string& message) const {
    const bool last = step > static_cast<std::int64_t>(plan_.steps.size());
    return write(PlanMember{.version = facts_.version,
                            .step = step,
                            .phase = MemberPhase::waiting,
                            .finished = last,
                            .message = brief(message)});
  }

  [[nodiscard]] FollowerStep fail(const std::string& message, int status) const {
    PlanMember member = own_;
    member.phase = MemberPhase::failed;
    member.error = true;
    member.exit_status = status;
    member.message = brief(message);
    return write(member);
  }

  // Says how the hook ended, with the last line of its output.
  [[nodiscard]] std::string ended_text(HookVerb verb) const {
    return step().hook + " " + std::string(text_of(verb)) + ": exit status " +
           std::to_string(status(verb)) + (facts_.output.empty() ? "" : ": " + facts_.output);
  }

  [[nodiscard]] FollowerStep fail_of(HookVerb verb) const {
    return fail(ended_text(verb), status(verb));
  }

  [[nodiscard]] FollowerStep write(const PlanMember& member) const {
    const std::string own = key_of(KeyKind::node_plan, {facts_.node, facts_.plan});
    return WriteMember{
        {.compares = {{.key = own, .revision = sight_.own_revision},
                      {.key = key_of(KeyKind::plan, {facts_.plan}), .revision = sight_.revision},
                      {.key = key_of(KeyKind::node_active, {facts_.node}),
                       .revision = facts_.active}},
         .puts = {{.key = own, .value = write_record(member)}}},
        member};
  }

  const Plan& plan_;
  const PlanMember& own_;
  const PlanSight& sight_;
  const FollowerFacts& facts_;
};

}  // namespace

std::string_view text_of(HookVerb verb) {
  switch (verb) {
    case HookVerb::check:
      return "check";
    case HookVerb::stop:
      return "stop";
    case HookVerb::act:
      return "act";
    case HookVerb::start:
      return "start";
    case HookVerb::post:
      return "post";
    case HookVerb::migrate:
      return "migrate";
    case HookVerb::reboot:
      return "reboot";
  }
  return "";
}

FollowerStep follow(const PlanSight& sight, const FollowerFacts& facts) {
  return Follower(sight, facts).follow();
}

// ---- the member's part

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
  sight_.restored = event.sight.restored;
  // If the store's revision has become smaller, the store was restored from a snapshot, and no
  // longer has this process's last write.
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
    // The store has not committed the transaction. Decide again only when a changed record arrives,
    // or after the event PauseEnded.
    refused_ = decided_on_;
  }
}

void PlanPart::take(const PauseEnded& /*event*/) {
  refused_.reset();
  looks_ = true;
}

FollowerStep PlanPart::next() {
  if (is_busy() || looks_ || facts_.active == 0 || sight_.revision == 0) return NothingToDo{};
  const Basis now{sight_.revision, sight_.own_revision, facts_.active};
  if (refused_ == now) return NothingToDo{};
  refused_.reset();
  FollowerStep step = follow(sight_, facts_);
  if (const auto* hook = std::get_if<RunHook>(&step)) running_ = *hook;
  if (const auto* write = std::get_if<WriteMember>(&step)) pending_ = *write;
  decided_on_ = now;
  return step;
}

}  // namespace fleet
