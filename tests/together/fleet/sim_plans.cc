#include "tests/together/fleet/sim_plans.h"

#include <utility>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"

namespace fleet::test {

SimPlans::SimPlans(Store& store, Timers& timers, const Mirror& own, std::string node,
                   std::uint64_t seed, std::function<void()> wrote)
    : store_(store),
      timers_(timers),
      own_(own),
      node_(std::move(node)),
      wrote_(std::move(wrote)),
      plans_(store, timers, {prefix_of(KeyKind::plan), true},
             {.changed = [this](const Changes&) { look(); },
              .keeps = [this](const std::string& key) { return is_wanted(key); }},
             seed) {}

bool SimPlans::is_wanted(const std::string& text) const {
  const auto key = parse_key(text);
  if (!key) return false;
  const bool is_own_place = key->kind == KeyKind::plan_member && key->names[1] == node_;
  return key->kind == KeyKind::plan || is_own_place;
}

void SimPlans::act(Revision active) {
  active_ = active;
  look();
}

void SimPlans::look() {
  if (plans_.revision() == 0 || own_.revision() == 0) return;
  for (const auto& [text, record] : plans_.records()) {
    const auto key = parse_key(text);
    if (!key || key->kind != KeyKind::plan) continue;
    const std::string& plan = key->names.front();
    parts_.try_emplace(plan, node_, plan, "1.0.0", "b");
    feed(plan, seen(plan, record));
  }
}

PlanSeen SimPlans::seen(const std::string& plan, const KeyValue& record) const {
  PlanSeen seen{.as_of = own_.revision(), .active = active_};
  const auto read = read_record<Plan>(record.value);
  if (!read) return seen;
  seen.sight.plan = read.value();
  seen.sight.revision = record.modified;
  seen.sight.takes_part = plans_.find(key_of(KeyKind::plan_member, {plan, node_})) != nullptr;
  if (const KeyValue* there = own_.find(key_of(KeyKind::node_plan, {node_, plan}))) {
    const auto own = read_record<PlanMember>(there->value);
    seen.sight.own = own ? own.value() : PlanMember();
    seen.sight.own_revision = there->modified;
  }
  return seen;
}

void SimPlans::feed(const std::string& plan, const PlanPartEvent& event) {
  const FollowerStep step = parts_.at(plan).step(event);
  std::visit([this, &plan](const auto& what) { this->perform(plan, what); }, step);
}

void SimPlans::perform(const std::string& plan, const RunHook& /*run*/) {
  soon_[plan] = timers_.after(std::chrono::milliseconds(0), [this, plan] {
    feed(plan, HookEnded{0, ""});
  });
}

void SimPlans::perform(const std::string& plan, const WriteMember& write) {
  wrote_();
  store_.commit(write.transaction, [this, plan](const Outcome& outcome) {
    if (std::holds_alternative<Unknown>(outcome))
      soon_[plan] = timers_.after(std::chrono::milliseconds(1'000), [this] { look(); });
    feed(plan, MemberWritten{outcome});
  });
}

}  // namespace fleet::test
