#include "fleet/agent/plan_desk.h"

#include <utility>

namespace fleet {
namespace {

// The pause after an answer of the store was lost. After it, the local copy of the records most
// likely shows whether the transaction was committed, and PlanPart (the class that decides what
// this node does for a plan) decides again.
constexpr std::chrono::milliseconds write_again{1'000};

// The pause after the store has denied a transaction, for example because it is full. It is longer
// than `write_again`, since all members of a plan may try again at the same time.
constexpr std::chrono::milliseconds denied_again{10'000};

}  // namespace

PlanDesk::PlanDesk(uv_loop_t& loop, NodeDesk& desk, Settings settings)
    : loop_(loop),
      desk_(desk),
      settings_(std::move(settings)),
      plans_(desk.store, desk.timers, {prefix_of(KeyKind::plan), true},
             {.changed = [this](const Changes&) { look(); },
              .keeps = [this](const std::string& key) { return is_wanted(key); }},
             settings_.seed) {}

// Returns whether to keep the record with this key: a plan, or this node's own membership of a
// plan. A plan may have thousands of members, so records of other members are dropped.
bool PlanDesk::is_wanted(const std::string& text) const {
  const auto key = parse_key(text);
  if (!key) return false;
  const bool is_own_place = key->kind == KeyKind::plan_member && key->names[1] == desk_.node;
  return key->kind == KeyKind::plan || is_own_place;
}

void PlanDesk::look() {
  if (plans_.revision() == 0 || desk_.mirror.revision() == 0) return;
  for (const auto& [text, record] : plans_.records()) {
    const auto key = parse_key(text);
    if (key && key->kind == KeyKind::plan) look_at(key->names.front(), record);
  }
  // Forget plans that were erased from the store, but not while their hooks are running.
  std::erase_if(running_, [this](const auto& one) {
    return !one.second.part.is_busy() && plans_.find(key_of(KeyKind::plan, {one.first})) == nullptr;
  });
}

void PlanDesk::look_at(const std::string& plan, const KeyValue& record) {
  running_.try_emplace(plan, PlanPart(desk_.node, plan, settings_.version, desk_.boot_id));
  feed(plan, seen(plan, record));
}

PlanSeen PlanDesk::seen(const std::string& plan, const KeyValue& record) const {
  PlanSeen seen{.as_of = desk_.mirror.revision(), .active = desk_.is_doubtful ? 0 : desk_.active};
  const auto read = read_record<Plan>(record.value);
  if (!read) {
    desk_.log("plan " + plan + " " + read.reason());
    return seen;
  }
  seen.sight.plan = read.value();
  seen.sight.revision = record.modified;
  seen.sight.restored = desk_.life.begins;
  const std::string place = key_of(KeyKind::plan_member, {plan, desk_.node});
  seen.sight.takes_part = plans_.find(place) != nullptr;
  const std::string own = key_of(KeyKind::node_plan, {desk_.node, plan});
  if (const KeyValue* there = desk_.mirror.find(own)) {
    seen.sight.own = desk_.find<PlanMember>(own).value_or(PlanMember());
    seen.sight.own_revision = there->modified;
  }
  return seen;
}

void PlanDesk::feed(const std::string& plan, const PlanPartEvent& event) {
  const auto at = running_.find(plan);
  if (at == running_.end()) return;
  const FollowerStep step = at->second.part.step(event);
  std::visit([this, &plan](const auto& what) { this->perform(plan, what); }, step);
}

void PlanDesk::kill_hooks() {
  for (auto& [plan, one] : running_) {
    if (one.hook == nullptr || one.reboots) continue;
    desk_.log("plan " + plan + ": its hook is killed, since fleet-agent stops");
    one.hook = nullptr;
  }
}

void PlanDesk::perform(const std::string& plan, const RunHook& run) {
  const std::string verb(text_of(run.verb));
  const bool reboots = run.verb == HookVerb::reboot;
  running_.at(plan).reboots = reboots;
  desk_.log("plan " + plan + ": step " + run.step + ": " + run.hook + " " + verb);
  running_.at(plan).hook = std::make_unique<HookRun>(
      loop_, desk_.timers,
      HookRun::Settings{
          .path = reboots ? settings_.reboot_command : settings_.hooks + "/" + run.hook,
          .directory = reboots ? "" : settings_.hooks,
          .arguments = {verb},
          .environment = {"FLEET_NODE=" + desk_.node, "FLEET_PLAN=" + plan,
                          "FLEET_STEP=" + run.step, "FLEET_VERSION=" + run.version},
          .longest = std::chrono::milliseconds(run.timeout_ms)},
      [this, plan](const HookRun::Result& result) {
        desk_.log("plan " + plan + ": exit status " + std::to_string(result.status) +
                  (result.output.empty() ? "" : ": " + result.output));
        const auto ended = std::move(running_.at(plan).hook);
        feed(plan, HookEnded{result.status, result.output});
      });
}

void PlanDesk::perform(const std::string& plan, const WriteMember& write) {
  desk_.store.commit(write.transaction, [this, plan](const Outcome& outcome) {
    if (!std::holds_alternative<Committed>(outcome))
      desk_.log("plan " + plan + ": " + words(outcome));
    if (std::holds_alternative<Unknown>(outcome)) {
      running_.at(plan).again = desk_.timers.after(write_again, [this] { look(); });
    } else if (std::holds_alternative<Denied>(outcome)) {
      running_.at(plan).again = desk_.timers.after(denied_again, [this, plan] {
        feed(plan, PauseEnded{});
        look();
      });
    }
    feed(plan, MemberWritten{outcome});
  });
}

}  // namespace fleet
