#include "tests/together/fleet/plan_world.h"

#include <algorithm>
#include <utility>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet_test {

using namespace fleet;

namespace {

const std::string plan_key = key_of(KeyKind::plan, {"p"});
const std::string stop_key = key_of(KeyKind::stop);
const std::string driver_key = key_of(KeyKind::driver, {"p"});

std::string member_key(const std::string& id) {
  return key_of(KeyKind::node_plan, {id, "p"});
}

}  // namespace

PlanWorld::PlanWorld(const PlanSetup& setup) : setup_(setup) {
  Plan plan{.version = "2",
            .component = "agent",
            .steps = setup.steps,
            .state = PlanState::running,
            .previous = "1"};
  for (std::size_t i = 0; i < setup.members.size(); ++i) {
    const std::string id = "m" + std::to_string(i);
    ids_.push_back(id);
    store_.put(key_of(KeyKind::plan_member, {"p", id}), write_record(PlanPlace{}));
    nodes_[id] = {.nature = setup.members[i], .facts = {.node = id, .plan = "p", .version = "a"}};
  }
  const bool failed = setup.done_before.starts_with('!');
  if (!setup.done_before.empty()) {
    store_.put(key_of(KeyKind::once, {"p", setup.done_before.substr(failed ? 1 : 0)}),
               write_record(Once{.version = "2", .success = !failed}));
  }
  store_.put(key_of(KeyKind::desired, {"agent"}),
             write_record(Desired{.version = "2", .why = "plan/p", .pending = true}));
  store_.put(plan_key, write_record(plan));
  store_.put(driver_key, "{}");
  driver_.fence = store_.revision();
}

const Plan& PlanWorld::plan() const {
  const KeyValue& record = *store_.find(plan_key);
  if (plan_read_.first != record.modified)
    plan_read_ = {record.modified, read_record<Plan>(record.value).value()};
  return plan_read_.second;
}

std::string PlanWorld::end() const {
  return std::string(text_of(plan().state));
}

PlanSight PlanWorld::sight(const std::string& id) const {
  PlanSight sight{.takes_part = true, .plan = plan(), .revision = store_.find(plan_key)->modified};
  if (const KeyValue* own = store_.find(member_key(id))) {
    sight.own = read_record<PlanMember>(own->value).value();
    sight.own_revision = own->modified;
  }
  return sight;
}

PlanDecision PlanWorld::decision() const {
  PlanView view{.name = "p"};
  view.take_all(store_.read({std::string(key_root)}));
  for (auto& [id, member] : view.members) {
    const bool here = member.record.step == view.plan.step && view.plan.step > 0;
    if (setup_.seeded == PlanSeeded::early && here) ++member.record.step;
  }
  return decide_plan(view, driver_, now_);
}

FollowerStep PlanWorld::next_of(const std::string& id) const {
  return follow(sight(id), nodes_.at(id).facts);
}

std::vector<PlanWorld::Step> PlanWorld::steps() const {
  std::vector<Step> some;
  const PlanDecision next = decision();
  if (pending_) {
    some.push_back({Move::driver_commits});
    if (setup_.driver_kills > 0) some.push_back({Move::driver_dies});
  } else if (next.transaction) {
    some.push_back({Move::driver_decides});
  }
  if (!late_.empty()) some.push_back({Move::late_arrives});
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const Node& node = nodes_.at(ids_[i]);
    if (node.nature == Member::silent) continue;
    const bool moves =
        node.running || node.pending || !std::holds_alternative<NothingToDo>(next_of(ids_[i]));
    if (moves) some.push_back({Move::member, i});
    if (moves && setup_.member_kills > 0) some.push_back({Move::member_dies, i});
  }
  const bool hastens = setup_.hastes > 0 && !pending_;
  if (next.until && (some.empty() || hastens)) some.push_back({Move::time_passes});
  const bool stopped = store_.find(stop_key) != nullptr;
  if (stopped) some.push_back({Move::person_lets_go});
  if (!stopped && setup_.stops > 0 && plan().state == PlanState::running)
    some.push_back({Move::person_stops});
  return some;
}

void PlanWorld::make(const Step& step) {
  switch (step.move) {
    case Move::driver_decides:
      return driver_decides();
    case Move::driver_commits:
      return driver_commits();
    case Move::driver_dies:
      --setup_.driver_kills;
      late_.push_back(*std::exchange(pending_, std::nullopt));
      store_.erase(driver_key);
      store_.put(driver_key, "{}");
      driver_ = {.fence = store_.revision()};
      return;
    case Move::late_arrives: {
      const Transaction late = late_.front();
      late_.erase(late_.begin());
      if (std::holds_alternative<Committed>(store_.commit(late))) {
        is_wrong("a driver that was superseded has written");
      }
      return;
    }
    case Move::member:
      return member_moves(ids_[step.which]);
    case Move::member_dies: {
      --setup_.member_kills;
      Node& node = nodes_.at(ids_[step.which]);
      node.facts.done.clear();
      node.facts.began_to_act = false;
      node.running.reset();
      node.pending.reset();
      return;
    }
    case Move::time_passes: {
      const PlanDecision waits = decision();
      if (setup_.hastes > 0) --setup_.hastes;
      driver_.waits_for = waits.waits_for;
      driver_.since = waits.since;
      now_ = *waits.until;
      return;
    }
    case Move::person_stops:
      --setup_.stops;
      store_.put(stop_key, write_record(Stop{.who = "person"}));
      return;
    case Move::person_lets_go:
      judge_stop();
      return store_.erase(stop_key);
  }
}

// Checks a cell in which nobody can make a step before the person ends the stop: the services of
// all members must be up, unless the plan has failed.
void PlanWorld::judge_stop() {
  if (steps().size() > 1 || plan().state != PlanState::running) return;
  for (const auto& [id, node] : nodes_) {
    if (!node.works) is_wrong(id + " is down for as long as the stop lasts");
  }
}

void PlanWorld::driver_decides() {
  const PlanDecision next = decision();
  driver_.waits_for = next.waits_for;
  driver_.since = next.since;
  Transaction transaction = *next.transaction;
  if (setup_.seeded == PlanSeeded::no_compares) transaction.compares.clear();
  for (Put& put : transaction.puts) {
    if (put.key != plan_key) continue;
    Plan plan = read_record<Plan>(put.value).value();
    if (setup_.seeded == PlanSeeded::all_act) plan.acting = true;
    put.value = write_record(plan);
  }
  pending_ = transaction;
}

void PlanWorld::driver_commits() {
  const Outcome outcome = store_.commit(*std::exchange(pending_, std::nullopt));
  if (std::holds_alternative<Denied>(outcome)) is_wrong("denied: " + fleet::words(outcome));
}

// ---- members

void PlanWorld::member_moves(const std::string& id) {
  Node& node = nodes_.at(id);
  if (node.running) return end_hook(id);
  if (node.pending) return commit_member(id);
  const FollowerStep next = next_of(id);
  if (const auto* hook = std::get_if<RunHook>(&next)) begin_hook(id, *hook);
  if (const auto* write = std::get_if<WriteMember>(&next)) node.pending = *write;
  node.decided_by = plan();
}

void PlanWorld::commit_member(const std::string& id) {
  Node& node = nodes_.at(id);
  WriteMember write = *std::exchange(node.pending, std::nullopt);
  if (setup_.seeded == PlanSeeded::member_compares_nothing) write.transaction.compares.clear();
  const PlanMember before = sight(id).own;
  const Outcome outcome = store_.commit(write.transaction);
  if (!std::holds_alternative<Committed>(outcome)) return;
  const bool moved = before.step != write.member.step || before.phase != write.member.phase;
  if (moved) node.facts.done.clear();
  const MemberPhase phase = write.member.phase;
  node.facts.began_to_act = phase == MemberPhase::acting || phase == MemberPhase::rebooting;
  if (phase != MemberPhase::acting) return;
  // The store now has the member's record with the phase `acting`. The member acts immediately. It
  // still uses the record of the plan that it had read when it decided to act, even if the store
  // has a newer one.
  const FollowerStep next =
      follow({true, node.decided_by, 1, write.member, store_.revision()}, node.facts);
  if (const auto* hook = std::get_if<RunHook>(&next)) begin_hook(id, *hook);
}

void PlanWorld::begin_hook(const std::string& id, const RunHook& hook) {
  judge_hook(id, hook);
  Node& node = nodes_.at(id);
  node.running = hook;
  if (hook.verb == HookVerb::stop) node.works = false;
  ++node.ran[std::string(text_of(hook.verb)) + " " + std::to_string(sight(id).own.step)];
}

void PlanWorld::end_hook(const std::string& id) {
  Node& node = nodes_.at(id);
  const HookVerb verb = std::exchange(node.running, std::nullopt)->verb;
  int status = 0;
  if (verb == HookVerb::check && node.nature == Member::says_no) status = 1;
  if (verb == HookVerb::stop && node.nature == Member::cannot_stop) status = 1;
  if (verb == HookVerb::act && node.nature == Member::cannot_act) status = 2;
  if (verb == HookVerb::migrate && node.nature == Member::changed_nothing) status = 75;
  if (verb == HookVerb::migrate && node.nature == Member::cannot_migrate) status = 1;
  if (verb == HookVerb::act && node.nature == Member::reboots) status = exit_reboot_required;
  if (verb == HookVerb::start) node.works = true;
  node.facts.done[verb] = status;
  if (verb != HookVerb::reboot) return;
  // The machine has rebooted: the boot id is new, and fleet-agent starts again.
  node.facts.boot += "b";
  node.facts.done.clear();
  node.facts.began_to_act = false;
}

// ---- the checks of the simulated plan, and its state as text

void PlanWorld::is_wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = what;
}

int PlanWorld::times(const std::string& what) const {
  int times = 0;
  for (const auto& [id, node] : nodes_) {
    const auto found = node.ran.find(what);
    times += found == node.ran.end() ? 0 : found->second;
  }
  return times;
}

void PlanWorld::judge_hook(const std::string& id, const RunHook& hook) {
  const std::int64_t step = sight(id).own.step;
  const StepClass kind = setup_.steps[static_cast<std::size_t>(step - 1)].kind;
  const bool acts = hook.verb == HookVerb::act;
  const bool together = kind == StepClass::together;
  if (acts && nodes_.at(id).ran.contains("act " + std::to_string(step))) {
    is_wrong(id + " acts a second time");
  }
  if (acts && kind == StepClass::once && times("act " + std::to_string(step)) > 0) {
    is_wrong("a step that is done once for all is done again");
  }
  const bool has_rebooted = nodes_.at(id).ran.contains("reboot " + std::to_string(step));
  if (hook.verb == HookVerb::reboot && has_rebooted) is_wrong(id + " reboots a second time");
  if (hook.verb == HookVerb::post && nodes_.at(id).nature == Member::reboots && !has_rebooted) {
    is_wrong(id + " goes on before it has rebooted");
  }
  if (hook.verb == HookVerb::migrate && times("migrate " + std::to_string(step)) > 0) {
    is_wrong("migrated twice");
  }
  if ((acts || hook.verb == HookVerb::migrate) && plan().back) {
    is_wrong(id + " acts although everybody goes back");
  }
  for (const std::string& other : ids_) {
    const Node& node = nodes_.at(other);
    const PlanMember record = sight(other).own;
    if (record.step < step) is_wrong(id + " is a step ahead of " + other);
    const bool migrates = hook.verb == HookVerb::migrate;
    const bool stopped = record.step > step || record.phase != MemberPhase::waiting;
    if (((acts && together) || migrates) && !stopped)
      is_wrong(id + " acts while " + other + " works");
    if (migrates && node.works) is_wrong(id + " migrates while " + other + " works");
    const bool busy = other != id && record.step == step && record.phase == MemberPhase::acting;
    if (acts && busy && kind == StepClass::one_at_a_time && !record.error) {
      is_wrong(id + " acts while " + other + " acts");
    }
  }
}

std::string PlanWorld::wrong_end() const {
  const Plan end = plan();
  const bool ended = end.state == PlanState::completed || end.state == PlanState::aborted ||
                     end.state == PlanState::halted;
  if (!ended) return "the plan does not end";
  for (const auto& [id, node] : nodes_) {
    if (end.state == PlanState::completed && !sight(id).own.finished)
      return "completed without " + id;
    if (end.state != PlanState::halted && !node.works) return id + " is left standing";
  }
  if (end.state != PlanState::completed && end.error.empty()) return "it does not say why";
  const KeyValue* desired = store_.find(key_of(KeyKind::desired, {"agent"}));
  const bool migrates = std::any_of(setup_.steps.begin(), setup_.steps.end(),
                                    [](const PlanStep& step) { return step.migrate; });
  const Desired wish =
      desired == nullptr ? Desired{} : read_record<Desired>(desired->value).value();
  const bool released = wish.version == "2" && !wish.pending;
  if (end.state == PlanState::aborted && wish.pending) return "aborted, and its wish is pending";
  if (migrates && end.state == PlanState::completed && !released) return "nothing was released";
  if (end.state == PlanState::aborted && released) return "released, and aborted";
  return "";
}

std::string PlanWorld::words() const {
  std::string text;
  for (const auto& [key, record] : store_.all()) {
    text += key + "@" + std::to_string(record.modified) + "=" + record.value + "\n";
  }
  for (const auto& [id, node] : nodes_) {
    text += id + (node.works ? " works" : "") + (node.facts.began_to_act ? " acts" : "") + " " +
            node.facts.boot;
    for (const auto& [verb, status] : node.facts.done) {
      text += " " + std::string(text_of(verb)) + std::to_string(status);
    }
    for (const auto& [what, times] : node.ran)
      text += " " + what + "x" + std::to_string(times);
    if (node.running) text += " runs " + std::string(text_of(node.running->verb));
    if (node.pending) text += " writes " + fleet::words(node.pending->transaction);
    text += "\n";
  }
  if (pending_) text += "decided " + fleet::words(*pending_) + "\n";
  for (const Transaction& late : late_)
    text += "late " + fleet::words(late) + "\n";
  text += std::to_string(setup_.driver_kills) + std::to_string(setup_.member_kills) +
          std::to_string(setup_.hastes) + std::to_string(setup_.stops) + "fence @" +
          std::to_string(driver_.fence) + " waits " + driver_.waits_for + " " +
          std::to_string(now_ - driver_.since);
  return by_rank(text);
}

}  // namespace fleet_test
