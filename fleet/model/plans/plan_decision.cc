#include "fleet/model/plans/plan_decision.h"

#include <algorithm>

#include "fleet/model/agent/plan_follower.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

class PlanDecider {
 public:
  PlanDecider(const PlanView& view, const PlanFacts& facts, Ms now)
      : view_(view), plan_(view.plan), next_(view.plan), facts_(facts), now_(now) {
    next_.driver = facts.controller;
    next_.waits_for.clear();
    transaction_.compares = {
        {.key = key_of(KeyKind::driver, {view.name}),
         .of = Compare::Of::created,
         .revision = facts.fence},
        {.key = key_of(KeyKind::plan, {view.name}), .revision = view.revision}};
  }

  PlanDecision decide() {
    if (plan_.state == PlanState::stopping) return end_stopping();
    if (plan_.state != PlanState::running) return {.over = true};
    if (view_.is_from_snapshot())
      return stop("the store was restored, and nobody knows how far the plan had come", "");
    for (const std::string& id : view_.ids) {
      const PlanMember& record = view_.member(id).record;
      if (record.error) return stop(id + ": " + record.message, id);
    }
    if (const auto behind = view_.those_before(plan_.step + 1); behind.empty()) return advance();
    if (plan_.step == 0) return wait("to record that they take part", view_.those_before(1));
    switch (step().kind) {
      case StepClass::any:
        return any();
      case StepClass::one_at_a_time:
        return one_at_a_time();
      case StepClass::once:
        return once();
      case StepClass::together:
        return together();
      case StepClass::unknown:
        return stop("step " + name() + " has a class that this program does not know", "");
    }
    return {};
  }

 private:
  [[nodiscard]] const PlanStep& step() const {
    return plan_.steps[static_cast<std::size_t>(plan_.step - 1)];
  }
  [[nodiscard]] std::string name() const {
    return std::to_string(plan_.step) + " (" + step().name + ")";
  }

  // ---- steps

  PlanDecision advance() {
    if (plan_.step == 0) {
      if (!facts_.window.is_open) return {.until = facts_.window.until};
      if (is_agent_under_way(view_)) return {};
      if (const auto others = those_of_other_agents(view_); !others.empty())
        return bring_agents(others);
    }
    const bool is_last = plan_.step == static_cast<std::int64_t>(plan_.steps.size());
    const PlanStep next = is_last ? PlanStep{} : plan_.steps[static_cast<std::size_t>(plan_.step)];
    if (next.kind == StepClass::together && needs_places()) {
      return stop(over_budget_text(next.name, *facts_.budgets), "");
    }
    // No step is under way now, so the plan gives back its budget places. But if the next step is
    // of the kind `any`, the plan keeps or takes places for its first members: as many as there are
    // free places.
    const bool is_any = next.kind == StepClass::any && needs_places();
    const std::vector<std::string> first = is_any ? fitting(view_.ids) : std::vector<std::string>{};
    if (auto places = places_for(first)) return *places;
    next_.acting = false;
    next_.lock = first.size() < view_.ids.size() && is_any ? first.back() : "";
    if (is_last) {
      next_.state = PlanState::completed;
      return write("plan " + view_.name + " is completed");
    }
    ++next_.step;
    return begin("step " + std::to_string(next_.step) + " may run");
  }

  // Begins a rollout that brings the plan's version of fleet-agent to `others`, the members with
  // another version. If the rollout exists already, waits until it has ended and these members
  // report the new version.
  PlanDecision bring_agents(const std::vector<std::string>& others) {
    const std::string id = agent_rollout_id(view_.name, plan_);
    const auto found = view_.rollouts.find(id);
    if (found == view_.rollouts.end()) {
      const Transaction without = transaction_;
      if (!put_agent_rollout(transaction_, view_.name, plan_, others, facts_.budgets)) {
        transaction_ = without;
        return stop("no rollout can bring fleet-agent " + plan_.agent + " to " +
                        std::to_string(others.size()) + " members, and be called " + id,
                    "");
      }
      return begin("rollout " + id + " brings fleet-agent " + plan_.agent + " first to " +
                   listed(others));
    }
    const RolloutState state = found->second.state;
    if (state == RolloutState::paused || state == RolloutState::completed) {
      return wait("to come back with fleet-agent " + plan_.agent, others);
    }
    return stop("fleet-agent " + plan_.agent + " has not come to " + listed(others) + ": rollout " +
                    id + ": " + found->second.reason,
                "");
  }

  // Drives a step of the kind `any`: waits for the members that may run the step now. Then lets the
  // next members run it: as many as there are free places of the budgets.
  PlanDecision any() {
    std::vector<std::string> behind = view_.those_before(plan_.step + 1);
    if (plan_.lock.empty() || behind.front() <= plan_.lock) {
      const auto is_later = [this](const auto& id) { return id > plan_.lock; };
      if (!plan_.lock.empty()) std::erase_if(behind, is_later);
      return wait("to end step " + name(), behind);
    }
    const std::vector<std::string> next = fitting(behind);
    if (auto places = places_for(next)) return *places;
    next_.lock = next.back();
    return begin("the members up to " + next_.lock + " may run step " + name());
  }

  PlanDecision one_at_a_time() {
    const auto behind = view_.those_before(plan_.step + 1);
    if (std::find(behind.begin(), behind.end(), plan_.lock) != behind.end()) {
      return wait("to end step " + name(), {plan_.lock});
    }
    if (auto places = places_for({behind.front()})) return *places;
    next_.lock = behind.front();
    return begin(next_.lock + " has the lock of step " + name());
  }

  PlanDecision once() {
    if (plan_.acting)
      return wait("to go on from step " + name(), view_.those_before(plan_.step + 1));
    const auto before = view_.once.find(step().name);
    if (before != view_.once.end() && before->second.version == plan_.version) {
      if (!before->second.success) {
        return stop("step " + name() + " has failed for " + plan_.version + " before", "");
      }
      next_.acting = true;
      return begin("step " + name() + " was done before");
    }
    if (plan_.lock.empty()) {
      if (auto takes = take_places({view_.ids.front()})) return *takes;
      next_.lock = view_.ids.front();
      return begin(next_.lock + " does step " + name() + " for all");
    }
    if (view_.member(plan_.lock).record.step <= plan_.step) {
      return wait("to do step " + name() + " for all", {plan_.lock});
    }
    next_.acting = true;
    put_once(true, view_.member(plan_.lock).record.message);
    return write("step " + name() + " is done for all");
  }

  PlanDecision together() {
    std::vector<std::string> at_work;
    for (const std::string& id : view_.ids) {
      const PlanMember& record = view_.member(id).record;
      if (record.step == plan_.step && record.phase == MemberPhase::waiting) at_work.push_back(id);
    }
    if (plan_.acting) return wait("to end step " + name(), view_.those_before(plan_.step + 1));
    if (!at_work.empty()) return wait("to stop for step " + name(), at_work);
    // The members have stopped their services, which would stay down if the plan waited here. So
    // the record `stop` is ignored.
    if (step().migrate && plan_.lock.empty()) {
      if (!plan_.component.empty() && !compare_wish(transaction_, view_)) {
        return stop(
            "the desired version of " + plan_.component + " has changed since the plan began", "");
      }
      next_.lock = view_.ids.front();
      return write(next_.lock + " migrates");
    }
    if (step().migrate && view_.member(plan_.lock).record.phase != MemberPhase::migrated) {
      return wait("to migrate", {plan_.lock});
    }
    next_.acting = true;
    if (step().migrate) release_wish(transaction_, view_);
    return write("all have stopped for step " + name() + ", and may act");
  }

  // ---- places of budgets

  [[nodiscard]] bool needs_places() const { return fleet::needs_places(plan_, facts_.budgets); }
  // Returns the first of these members: as many as there are free places of the budgets, and at
  // least one.
  [[nodiscard]] std::vector<std::string> fitting(std::vector<std::string> ids) const {
    if (needs_places()) ids.resize(facts_.budgets->fitting_now(place_owner(view_.name), ids));
    return ids;
  }

  // Takes budget places for these members, and gives back the places of all other members. Returns
  // no value if there is nothing left to do.
  std::optional<PlanDecision> places_for(const std::vector<std::string>& ids) {
    auto frees = free_places(ids);
    return frees || ids.empty() ? frees : take_places(ids);
  }

  // Gives back the budget places of all members except those in `but`. The store refuses this if
  // another run has taken over one of these places. Returns no value if there are no such places.
  std::optional<PlanDecision> free_places(const std::vector<std::string>& but,
                                          const std::string& news = "") {
    for (const auto& [key, place] : view_.places) {
      if (std::find(but.begin(), but.end(), place.node) != but.end()) continue;
      if (transaction_.compares.size() == operations_max) break;
      transaction_.compares.push_back({.key = key, .revision = place.revision});
      transaction_.erases.push_back({.key = key});
    }
    return transaction_.erases.empty() ? std::nullopt : std::optional(write(news));
  }

  // Takes budget places for these members. Returns no value if they already have all places. If a
  // place is not free, gives back all places of the plan, so that no other rollout or plan has to
  // wait for them, and notes in the plan which places it waits for.
  std::optional<PlanDecision> take_places(const std::vector<std::string>& nodes) {
    if (!needs_places()) return std::nullopt;
    const std::size_t room = operations_max - transaction_.compares.size() - 2;
    const PlacesAnswer answer = facts_.budgets->ask(place_owner(view_.name), nodes, room);
    if (!answer.waits_for.empty()) {
      next_.waits_for = brief(answer.waits_for);
      const std::string news = "waits for places: " + next_.waits_for;
      if (auto frees = free_places({}, news)) return frees;
      return plan_.waits_for == next_.waits_for ? PlanDecision{} : write(news);
    }
    if (answer.has_all) return std::nullopt;
    if (view_.stopped) return PlanDecision{};
    transaction_.compares.insert(transaction_.compares.end(), answer.compares.begin(),
                                 answer.compares.end());
    transaction_.puts = answer.puts;
    return write("");
  }

  // ---- waits

  PlanDecision wait(const std::string& what, const std::vector<std::string>& missing) {
    const PlanDecision waits = wait_for(what);
    if (now_ < *waits.until) return waits;
    PlanDecision over = stop("waited in vain for " + listed(missing) + " " + what, "");
    over.waits_for = waits.waits_for;
    over.since = waits.since;
    return over;
  }

  [[nodiscard]] PlanDecision wait_for(const std::string& what) const {
    const std::int64_t timeout =
        plan_.step == 0 ? plan_.steps.front().timeout_ms : step().timeout_ms;
    const std::string waits_for = what + plan_.lock + (plan_.acting ? "!" : "");
    const Ms since = facts_.waits_for == waits_for ? facts_.since : now_;
    return {.until = since + timeout, .waits_for = waits_for, .since = since};
  }

  // ---- how a plan stops

  // Returns whether stopped members may start the old version again. This is allowed only if no
  // member has begun `act`. Also, the member that migrates must not have begun, or must have
  // reported that the migration has changed nothing.
  [[nodiscard]] bool may_go_back() const {
    if (plan_.step == 0 || step().kind != StepClass::together || plan_.acting) return false;
    if (view_.is_from_snapshot()) return false;
    if (plan_.lock.empty()) return true;
    const PlanMember& holder = view_.member(plan_.lock).record;
    if (holder.error) return holder.exit_status == exit_nothing_changed;
    return holder.phase == MemberPhase::stopped;
  }

  PlanDecision stop(const std::string& error, const std::string& who) {
    next_.state = PlanState::stopping;
    next_.error = brief(error);
    next_.back = may_go_back();
    if (!plan_.lock.empty()) {
      transaction_.compares.push_back({.key = key_of(KeyKind::node_plan, {plan_.lock, view_.name}),
                                       .revision = view_.member(plan_.lock).revision});
    }
    const bool once = plan_.step > 0 && step().kind == StepClass::once && !plan_.acting;
    if (once && who == plan_.lock && !who.empty()) put_once(false, error);
    if (next_.back) restore_wish(transaction_, view_);
    return write("plan " + view_.name + " stops: " + error);
  }

  PlanDecision end_stopping() {
    std::vector<std::string> going;
    bool all_back = plan_.back;
    for (const std::string& id : view_.ids) {
      const MemberSight sight = view_.member(id);
      const MemberPhase phase = sight.record.phase;
      const bool failed = sight.record.error && !(plan_.back && phase == MemberPhase::failed);
      const bool ended = sight.revision == 0 || failed || phase == MemberPhase::halted ||
                         phase == MemberPhase::resumed;
      if (!ended) going.push_back(id);
      all_back = all_back && phase == MemberPhase::resumed;
    }
    if (!going.empty()) {
      const PlanDecision waits = wait_for("to stop");
      if (now_ < *waits.until) return waits;
      next_.error = brief(next_.error, text_bytes_max / 2) + "; then waited in vain for " +
                    listed(going) + " to stop";
    }
    const bool is_aborted = all_back && going.empty();
    if (auto frees = is_aborted ? free_places({}) : std::nullopt) return *frees;
    next_.state = is_aborted ? PlanState::aborted : PlanState::halted;
    next_.lock.clear();
    return write("plan " + view_.name + " is " +
                 (next_.state == PlanState::aborted ? "aborted, and all are back at work: "
                                                    : "halted until recover: ") +
                 next_.error);
  }

  // ---- writes

  void put_once(bool success, const std::string& message) {
    const Once once{plan_.version, success, plan_.lock, message};
    transaction_.puts.push_back(
        {.key = key_of(KeyKind::once, {view_.name, step().name}), .value = write_record(once)});
  }

  // Writes the plan's new record `next_`, which lets members or a rollout begin something. If the
  // record `stop` exists, gives back the plan's budget places instead, so that no other rollout or
  // plan waits for them. This is safe, since no member that has a place has begun the step.
  PlanDecision begin(const std::string& news) {
    if (view_.stopped) {
      // The transaction of this object already begins the step, so use a new object.
      return PlanDecider(view_, facts_, now_).free_places({}).value_or(PlanDecision{});
    }
    transaction_.compares.push_back({.key = key_of(KeyKind::stop)});
    return write(news);
  }

  PlanDecision write(const std::string& news) {
    transaction_.puts.push_back(
        {.key = key_of(KeyKind::plan, {view_.name}), .value = write_record(next_)});
    return {.transaction = transaction_, .news = news};
  }

  const PlanView& view_;
  const Plan& plan_;
  Plan next_;
  const PlanFacts& facts_;
  Ms now_;
  Transaction transaction_;
};

}  // namespace

PlanDecision decide_plan(const PlanView& view, const PlanFacts& facts, Ms now) {
  if (view.revision == 0 || !view.damage.empty()) return {.news = view.damage, .over = true};
  if (view.plan.steps.empty() || view.ids.empty()) {
    return {.news = "a plan without steps or members", .over = true};
  }
  return PlanDecider(view, facts, now).decide();
}

}  // namespace fleet
