#include "tests/together/fleet/day_machine.h"

#include <algorithm>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleet_test {

using namespace fleet;

namespace {

constexpr Ms disk_ms = 5;
constexpr Ms fetch_ms = 20'000;
constexpr Ms start_ms = 500;
constexpr Ms sick_after_ms = 20'000;

}  // namespace

DayMachine::DayMachine(World world, std::string name, std::uint64_t seed)
    : world_(std::move(world)), name_(std::move(name)), seed_(seed) {
  start();
}

void DayMachine::start() {
  ++starts_;
  agent_ = std::make_unique<Agent>(*this, seed_ + 1'000 * starts_);
}

void DayMachine::kill(Ms dead_for) {
  agent_ = nullptr;
  if (world_.forgets) disk_ = {};
  world_.time.post(std::chrono::milliseconds(dead_for), [this] {
    if (agent_ == nullptr) start();
  });
}

void DayMachine::set_faults(Faults faults) {
  faults_ = faults;
  if (agent_ != nullptr) agent_->store_.set_faults(faults);
}

void DayMachine::set_reachable(bool reachable) {
  if (agent_ != nullptr) agent_->store_.set_reachable(reachable);
}

// Returns what a starting fleet-agent would learn from a real upgrader's status.json and
// previous.json: the upgrade that is under way, or how the last upgrade has ended.
Restarted DayMachine::restarted() const {
  Restarted event;
  if (trial_) {
    event.under_way = trial_->id;
    if (trial_->activated) event.activated_ago = now() - *trial_->activated;
  } else if (!last_.command.empty()) {
    event.ended = last_.command;
    event.ending = last_.ending;
    event.why = last_.why;
    event.expired = last_.expired;
  }
  return event;
}

// ---- the upgrader

void DayMachine::begin_upgrade(const BeginUpgrade& begin) {
  const std::string id = begin.command.id;
  const std::string version = begin.command.version;
  ++carried_out_[id];
  ++begun_[version];
  trial_ = Trial{.id = id, .from = version_, .began = now()};
  world_.time.post(std::chrono::milliseconds(start_ms), [this, id, version, begin] {
    if (trial_ && trial_->id == id && !trial_->activated) activate(id, version, begin.trial_ms);
  });
}

void DayMachine::activate(const std::string& id, const std::string& version, Ms trial_ms) {
  const Fault fault = world_.fault(version);
  if (fault == Fault::at_start) return end_trial(UpgradeEnding::failed, "dies at its start", false);
  trial_->activated = now();
  version_ = version;
  if (agent_ != nullptr) agent_->take(UpgradeActivated{id});
  const auto end_later = [this, id](Ms delay, const std::string& why, bool expired) {
    world_.time.post(std::chrono::milliseconds(delay), [this, id, why, expired] {
      if (trial_ && trial_->id == id) end_trial(UpgradeEnding::failed, why, expired);
    });
  };
  if (fault == Fault::at_soak) end_later(sick_after_ms, "dies while it is observed", false);
  end_later(trial_ms, "nobody has committed it", true);
}

void DayMachine::end_trial(UpgradeEnding ending, const std::string& why, bool expired) {
  const Trial trial = *std::exchange(trial_, std::nullopt);
  if (ending != UpgradeEnding::committed) version_ = trial.from;
  last_ = {.command = trial.id, .ending = ending, .why = why, .expired = expired};
  if (agent_ != nullptr) agent_->take(last_);
}

// ---- fleet-agent

DayMachine::Agent::Agent(DayMachine& machine, std::uint64_t seed)
    : machine_(machine),
      instance_("i" + std::to_string(machine.starts_)),
      store_(machine.world_.time, machine.world_.cell, seed, machine.faults_),
      commander_(NodeIdentity{machine.name_, std::string(day_component), instance_, "b"},
                 machine.disk_),
      mirror_(store_, machine.world_.time, {node_prefix(machine.name_), true},
              {.changed = [this](const Changes&) { look(); }}, seed) {
  take(machine.restarted());
  enter();
}

// Writes the records by which fleet-agent registers its node. The real fleet-agent first checks
// that no other fleet-agent with the node's name runs. That check is left out here, since the
// previous process has ended, and no other machine has the same name.
void DayMachine::Agent::enter() {
  const std::string& name = machine_.name_;
  const Transaction all{
      .puts = {{key_of(KeyKind::node_info, {name}), write_record(NodeInfo{.protocol = 1})},
               {key_of(KeyKind::node_versions, {name}),
                write_record(Versions{{{std::string(day_component), machine_.version_}}})},
               {key_of(KeyKind::node_instance, {name, "i"}),
                write_record(Instance{.version = "1", .boot_id = "b", .ready = true})},
               {key_of(KeyKind::node_active, {name}),
                write_record(Active{.instance = instance_, .boot_id = "b"})}}};
  store_.commit(all, [this, alive = std::weak_ptr(alive_)](const Outcome& outcome) {
    if (alive.expired()) return;
    const auto* done = std::get_if<Committed>(&outcome);
    if (done == nullptr) return later(1'000, [this] { enter(); });
    take(ActiveIs{done->revision});
    look();
  });
}

void DayMachine::Agent::look() {
  const KeyValue* there =
      mirror_.find(key_of(KeyKind::node_command, {machine_.name_, day_component}));
  const auto read = read_record<Command>(there == nullptr ? "{}" : there->value);
  if (there == nullptr || !read) {
    if (seen_.second != 0) take(CommandGone{});
    seen_ = {};
    return;
  }
  const std::pair<std::string, Revision> now{read.value().id, there->modified};
  if (std::exchange(seen_, now) == now) return;
  take(CommandSeen{read.value(), there->modified});
}

void DayMachine::Agent::take(const NodeEvent& event) {
  for (const NodeAction& action : commander_.step(event, machine_.now())) {
    std::visit([this](const auto& deed) { perform(deed); }, action);
  }
  expect_deadline();
}

void DayMachine::Agent::expect_deadline() {
  deadline_ = nullptr;
  const auto next = commander_.next_deadline();
  if (!next) return;
  const std::chrono::milliseconds left(std::max<Ms>(*next - machine_.now(), 0));
  deadline_ = machine_.world_.time.after(left, [this] { take(NodeTimePassed{}); });
}

void DayMachine::Agent::later(Ms delay, std::function<void()> call) {
  machine_.world_.time.post(std::chrono::milliseconds(delay),
                            [call = std::move(call), alive = std::weak_ptr(alive_)] {
                              if (!alive.expired()) call();
                            });
}

void DayMachine::Agent::perform(const Save& save) {
  later(disk_ms, [this, ledger = save.ledger] {
    machine_.disk_ = ledger;
    take(Saved{});
  });
}

void DayMachine::Agent::perform(const Ask& ask) {
  store_.commit(ask.question, [this, alive = std::weak_ptr(alive_)](const Outcome& outcome) {
    if (!alive.expired()) take(AskEnded{outcome});
  });
}

void DayMachine::Agent::perform(const Report& report) {
  store_.commit(report.transaction, [this, alive = std::weak_ptr(alive_)](const Outcome& outcome) {
    if (!alive.expired()) take(ReportEnded{outcome});
  });
}

void DayMachine::Agent::perform(const DoPrepare& order) {
  ++machine_.carried_out_[order.command.id];
  const bool fails = machine_.world_.fault(order.command.version) == Fault::at_prepare;
  later(fetch_ms, [this, id = order.command.id, fails] {
    take(PrepareEnded{id, fails ? "the file is not there" : ""});
  });
}

void DayMachine::Agent::perform(const BeginUpgrade& begin) {
  machine_.begin_upgrade(begin);
}

void DayMachine::Agent::perform(const SendCommit& commit) {
  if (machine_.trial_ && machine_.trial_->id == commit.upgrade) {
    later(1, [this] {
      if (machine_.trial_) machine_.end_trial(UpgradeEnding::committed, "", false);
    });
  }
}

void DayMachine::Agent::perform(const GoBack& back) {
  if (machine_.trial_ && machine_.trial_->id == back.upgrade) {
    later(1, [this, why = back.reason] {
      if (machine_.trial_) machine_.end_trial(UpgradeEnding::rolled_back, why, false);
    });
  }
}

}  // namespace fleet_test
