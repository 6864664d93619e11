#include "tests/together/fleet/sim_node.h"

#include <algorithm>

#include "fleet/model/records/record_text.h"

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

SimNode::SimNode(uv_loop_t& loop, const Settings& settings, Observer observer)
    : name_(settings.name),
      group_(settings.group),
      observer_(std::move(observer)),
      timers_(loop),
      store_(loop, settings.store),
      mirror_(store_, timers_, {node_prefix(name_), true},
              {.changed = [this](const Changes&) { look(); },
               .troubled = [this](const Trouble& trouble) { observer_.troubled(trouble.reason); }},
              settings.store.seed),
      stop_(store_, timers_, {key_of(KeyKind::stop)}, {.changed = [](const Changes&) {}},
            settings.store.seed),
      epoch_(store_, timers_, {key_of(KeyKind::epoch)}, {.changed = [](const Changes&) {}},
             settings.store.seed),
      plans_(store_, timers_, mirror_, name_, settings.store.seed, [this] { observer_.wrote(); }),
      lease_(store_, timers_, settings.lease,
             {.taken = [this](const Lease&) { registered_ ? show_instance() : enter(); },
              .lost = [this](const std::string& why) { observer_.troubled(why); },
              .kept = [this] { observer_.renewed(); }},
             settings.store.seed),
      commander_(NodeIdentity{name_, std::string(component), "i-" + name_, "b"}, NodeLedger()) {
  take(Restarted{});
}

bool SimNode::is_connected() const {
  return registered_ && lease_.lease() != 0 && mirror_.follows() && stop_.follows() &&
         epoch_.follows() && plans_.follows();
}

std::string SimNode::key(KeyKind kind) const {
  return key_of(kind, {name_, component});
}

// ---- the node's records in the store

// Writes the records with which a starting fleet-agent registers its node.
void SimNode::enter() {
  Transaction all;
  NodeInfo info{.protocol = 1};
  info.labels["group"] = group_;
  all.puts.push_back({key_of(KeyKind::node_info, {name_}), write_record(info)});
  all.puts.push_back({key_of(KeyKind::node_versions, {name_}),
                      write_record(Versions{{{std::string(component), version_}}})});
  all.puts.push_back({key_of(KeyKind::node_instance, {name_, "i-" + name_}),
                      write_record(Instance{.version = "1.0.0", .boot_id = "b", .ready = true}),
                      lease_.lease()});
  all.puts.push_back({key_of(KeyKind::node_active, {name_}),
                      write_record(Active{.instance = "i-" + name_, .boot_id = "b"})});
  write(std::move(all), [this](const Outcome& outcome) {
    const auto* done = std::get_if<Committed>(&outcome);
    if (done == nullptr) return lease_.lease() == 0 ? void() : enter();
    registered_ = true;
    take(ActiveIs{done->revision});
    feed(Settled{.version = version_});
    plans_.act(done->revision);
    observer_.registered();
    look();
  });
}

void SimNode::show_instance() {
  write({.puts = {{key_of(KeyKind::node_instance, {name_, "i-" + name_}),
                   write_record(Instance{.version = "1.0.0", .boot_id = "b", .ready = true}),
                   lease_.lease()}}},
        [this](const Outcome& outcome) {
          if (!std::holds_alternative<Committed>(outcome) && lease_.lease() != 0) show_instance();
        });
}

void SimNode::write(Transaction transaction, Store::Then<const Outcome&> then) {
  observer_.wrote();
  store_.commit(std::move(transaction), std::move(then));
}

void SimNode::write_versions(const std::string& version) {
  version_ = version;
  write({.puts = {{key_of(KeyKind::node_versions, {name_}),
                   write_record(Versions{{{std::string(component), version_}}})}}},
        [](const Outcome&) {});
}

void SimNode::look() {
  if (!registered_) return;
  look_at_wish();
  look_at_command();
  plans_.look();
}

void SimNode::look_at_wish() {
  const KeyValue* there = mirror_.find(key(KeyKind::node_desired));
  const auto desired =
      there == nullptr ? Result<Desired>(Desired{}) : read_record<Desired>(there->value);
  WishSeen seen{
      .claimed = mirror_.find(key(KeyKind::node_claim)) != nullptr || commander_.has_run(),
      .at = mirror_.revision()};
  if (there != nullptr && desired) seen.wish = Wish{there->modified, desired.value()};
  feed(RunsSeen{version_});
  feed(seen);
}

void SimNode::look_at_command() {
  const KeyValue* there = mirror_.find(key(KeyKind::node_command));
  const auto command = there == nullptr ? std::nullopt : [&]() -> std::optional<Command> {
    const auto read = read_record<Command>(there->value);
    return read ? std::optional(read.value()) : std::nullopt;
  }();
  if (!command || command->id.empty()) {
    if (seen_.second != 0) take(CommandGone{});
    seen_ = {};
    return;
  }
  const std::pair<std::string, Revision> now{command->id, there->modified};
  const bool waits = machine_.must_wait(*command) && commander_.ledger().begun.id != command->id;
  if (waits || std::exchange(seen_, now) == now) return;
  observer_.ordered(*command);
  take(CommandSeen{*command, there->modified});
}

void SimNode::take(const NodeEvent& event) {
  for (const NodeAction& action : commander_.step(event, timers_.now().count())) {
    std::visit([this](const auto& deed) { perform(deed); }, action);
  }
  expect_deadline();
}

void SimNode::feed(const WishEvent& event) {
  for (const WishAction& action : machine_.step(event, "")) {
    std::visit([this](const auto& deed) { perform(deed); }, action);
  }
}

// Runs `deed` in a later turn of the loop, as if the answer of a disk, a download or an upgrader
// had come in that turn.
void SimNode::later(std::function<void()> deed) {
  // If there are so many timers, the oldest one has run, and can be destroyed.
  if (soon_.size() > 8) soon_.erase(soon_.begin());
  soon_.push_back(timers_.after(std::chrono::milliseconds(0), std::move(deed)));
}

void SimNode::expect_deadline() {
  deadline_ = nullptr;
  const auto next = commander_.next_deadline();
  if (!next) return;
  const std::chrono::milliseconds left(std::max<Ms>(*next - timers_.now().count(), 0));
  deadline_ = timers_.after(left, [this] { take(NodeTimePassed{}); });
}

// ---- actions for commands

void SimNode::perform(const Save&) {
  later([this] { take(Saved{}); });
}

void SimNode::perform(const Ask& ask) {
  observer_.asked();
  store_.commit(ask.question, [this](const Outcome& outcome) {
    take(AskEnded{outcome});
    if (std::holds_alternative<Refused>(outcome)) seen_ = {};
  });
}

void SimNode::perform(const Report& report) {
  Transaction transaction = report.transaction;
  if (wish_reports_) {
    std::erase_if(transaction.puts,
                  [this](const Put& put) { return put.key == key(KeyKind::node_upgrade); });
  }
  write(std::move(transaction), [this](const Outcome& outcome) {
    const bool stands = std::holds_alternative<Committed>(outcome);
    take(ReportEnded{outcome});
    if (stands) observer_.answered(commander_.ledger());
  });
}

void SimNode::perform(const DoPrepare& order) {
  later([this, id = order.command.id] { take(PrepareEnded{id, ""}); });
}

void SimNode::perform(const BeginUpgrade& begin) {
  wish_reports_ = false;
  before_ = version_;
  write_versions(begin.command.version);
  later([this, id = begin.command.id] { take(UpgradeActivated{id}); });
}

void SimNode::perform(const SendCommit& commit) {
  later([this, id = commit.upgrade] {
    take(UpgradeEnded{.command = id, .ending = UpgradeEnding::committed});
  });
}

void SimNode::perform(const GoBack& back) {
  write_versions(before_);
  later([this, id = back.upgrade] {
    take(UpgradeEnded{.command = id, .ending = UpgradeEnding::rolled_back});
  });
}

void SimNode::perform(const PassGate& pass) {
  later([this, command = pass.command] { feed(StopOrdered{command}); });
}

// ---- actions that bring the node to its desired version

void SimNode::perform(const FetchRelease& fetch) {
  later([this, attempt = fetch.attempt] { feed(Fetched{.attempt = attempt}); });
}

void SimNode::perform(const AskUpgrade&) {
  later([this] {
    feed(GateReached{});
    look();
  });
}

void SimNode::perform(const ConfirmUpgrade&) {
  const Upgrade recorded = machine_.upgrade();
  write_versions(recorded.to);
  later([this, recorded] {
    feed(Settled{.version = version_, .recorded = recorded, .committed = true});
    observer_.wished(version_);
    look();
  });
}

void SimNode::perform(const CancelUpgrade& cancel) {
  later([this, why = cancel.reason] {
    feed(AttemptEnded{.error = why});
    look();
  });
}

void SimNode::perform(const ReportUpgrade& report) {
  wish_reports_ = true;
  upgrade_ = write_record(report.upgrade);
  write_upgrade();
}

// Writes the newest record of the upgrade. Waits for the store's answer before it writes the next
// record, since the store might otherwise commit the two writes in the wrong order.
void SimNode::write_upgrade() {
  if (upgrade_.empty() || std::exchange(writes_upgrade_, true)) return;
  write({.puts = {{key(KeyKind::node_upgrade), std::exchange(upgrade_, "")}}},
        [this](const Outcome&) {
          writes_upgrade_ = false;
          write_upgrade();
        });
}

}  // namespace fleet::test
