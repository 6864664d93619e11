#include "tests/together/fleet/rollout_world.h"

#include <algorithm>

#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/rollout_wish.h"

namespace fleet_test {

using namespace fleet;

namespace {

constexpr std::string_view component = "agent";
// How long a batch waits for the answers of the rollout's gates (questions such as one to
// Prometheus), in milliseconds. A gate is asked twice in this time.
constexpr std::int64_t judge_timeout = 15'000;

std::string key_of_node(KeyKind kind, const std::string& node) {
  return key_of(kind, {node, component});
}

template <class Record>
std::optional<Record> read(const TestStore& store, const std::string& key) {
  const KeyValue* found = store.find(key);
  if (found == nullptr) return std::nullopt;
  auto record = read_record<Record>(found->value);
  if (!record) return std::nullopt;
  return record.value();
}

// Returns, as text, how often the command's batch had been started again before this command was
// written. The number at the end of the command's id shows this: each start of the batch uses
// `attempts_max` numbers.
std::string beginning_of(const Command& command) {
  const int number = std::stoi(command.id.substr(command.id.rfind('.') + 1));
  return std::to_string((number - 1) / static_cast<int>(attempts_max));
}

}  // namespace

RolloutWorld::RolloutWorld(const WorldSetup& setup) : setup_(setup), left_(setup.faults) {
  for (std::size_t i = 0; i < setup.nodes.size(); ++i) {
    std::string id = "n" + std::to_string(1000 + i);
    nodes_[id] = {.nature = setup.nodes[i]};
    ids_.push_back(std::move(id));
  }
  Rollout rollout{.terms = {.component = std::string(component),
                            .version = "2",
                            .target = "*",
                            .batch = setup.batch,
                            .max_failed = setup.max_failed,
                            .max_failed_unsaid = setup.max_failed_unsaid,
                            .undo = setup.undo,
                            .judge_timeout_ms = setup.has_gate ? judge_timeout : 0,
                            .bake_ms = setup.bake_ms},
                  .state = RolloutState::rolling};
  if (setup.has_gate) rollout.terms.gates = {"g"};
  std::vector<PlacedNode> placed;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    placed.push_back({.id = ids_[i]});
    if (!setup.sites.empty()) placed.back().labels["site"] = setup.sites[i];
  }
  if (!setup.sites.empty() && setup.seeded != Seeded::not_apart) rollout.terms.apart = {"site"};
  for (auto& batch : draft_batches(rollout.terms, placed).batches) {
    store_.put(key_of(KeyKind::rollout_batch, {"r"}, static_cast<std::uint64_t>(rollout.batches++)),
               write_record(RolloutBatch{std::move(batch)}));
  }
  store_.put(key_of(KeyKind::rollout, {"r"}), write_record(rollout));
  for (const std::string& id : ids_)
    register_node(id);
  // The first node has its own desired version, which is the old version. The desired version of
  // the whole cell is the new version.
  store_.put(key_of_node(KeyKind::node_desired, ids_.front()),
             write_record(Desired{.version = "1", .why = "before"}));
  store_.put(key_of(KeyKind::desired, {component}), write_record(Desired{.version = "2"}));
  begin_driver();
}

// Writes the records that a node writes when it connects to the store.
void RolloutWorld::register_node(const std::string& node) {
  const std::string version = nodes_.at(node).committed ? "2" : "1";
  store_.put(key_of(KeyKind::node_versions, {node}),
             write_record(Versions{{{std::string(component), version}}}));
  store_.put(key_of(KeyKind::node_active, {node}), write_record(Active{.instance = "i"}));
  store_.put(key_of(KeyKind::node_instance, {node, "i"}), "{}");
}

void RolloutWorld::begin_driver() {
  ++drivers_;
  driver_.emplace("c" + std::to_string(drivers_), "r", 100 + drivers_);
  asked_.reset();
  asked_gates_.reset();
  gate_said_ = GateSays::unknown;
  lags_ = false;
  unreported_.clear();
  tell(BeginDriving{});
}

void RolloutWorld::tell(const DriverEvent& event) {
  for (DriverAction& action : driver_->step(event, now_)) {
    if (std::holds_alternative<Tell>(action)) continue;
    if (std::holds_alternative<EndDriving>(action)) {
      asked_.reset();
      store_.end_lease(100 + drivers_);
      continue;
    }
    if (const auto* gates = std::get_if<AskGates>(&action)) {
      asked_gates_ = *gates;
      continue;
    }
    if (auto* commit = std::get_if<Commit>(&action)) seed(commit->transaction);
    asked_ = std::move(action);
  }
}

void RolloutWorld::tell_changes() {
  unreported_.insert(unreported_.end(), store_.changes().begin(), store_.changes().end());
  if (!lags_) report();
}

void RolloutWorld::report() {
  lags_ = false;
  for (const TestStore::Change& change : std::exchange(unreported_, {})) {
    if (driver_->is_over()) return;
    if (change.erased) {
      tell(KeyErased{change.record.key, change.record.modified});
    } else {
      tell(KeyChanged{change.record});
    }
  }
}

Outcome RolloutWorld::commit(const Transaction& transaction, Revision fence) {
  if (store_.would_commit(transaction)) judge(transaction, fence);
  const Outcome outcome = store_.commit(transaction);
  if (std::holds_alternative<Denied>(outcome)) is_wrong("denied: " + fleet::words(outcome));
  if (std::holds_alternative<Committed>(outcome)) ++commits_;
  return outcome;
}

void RolloutWorld::deliver() {
  const DriverAction asked = std::move(*std::exchange(asked_, std::nullopt));
  if (const auto* wanted = std::get_if<Commit>(&asked)) {
    const Outcome outcome = commit(wanted->transaction, driver_->fence());
    tell(TransactionEnded{outcome});
  } else if (const auto* reading = std::get_if<WantReading>(&asked)) {
    tell(ReadingEnded{store_.read(reading->prefixes)});
  } else if (std::holds_alternative<GrantLease>(asked)) {
    tell(LeaseGranted{7});
  }
}

void RolloutWorld::replace_driver() {
  store_.end_lease(100 + drivers_);
  begin_driver();
}

// Moves the clock to the driver's next deadline, again and again, until the driver acts or has no
// deadline. After a hundred deadlines without an action, the driver is regarded as idle. The
// driver's lease never ends meanwhile.
void RolloutWorld::pass_time() {
  for (int i = 0; i < 100; ++i) {
    const std::optional<Ms> at = driver_->next_deadline();
    if (!at || asked_) return;
    const auto before = asked_gates_;
    now_ = std::max(now_, *at);
    tell(KeptAlive{});
    if (!asked_ && !driver_->is_over()) tell(TimePassed{});
    if (asked_ || driver_->is_over() || asked_gates_ != before) return;
  }
  resting_ = true;
}

std::vector<RolloutWorld::Step> RolloutWorld::steps() const {
  std::vector<Step> some;
  if (asked_) some.push_back({Move::deliver});
  if (!late_.empty()) some.push_back({Move::late_arrives});
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (can_act(ids_[i])) some.push_back({Move::node_acts, i});
  }
  for (std::size_t i = 0; asked_gates_ && !driver_->is_over() && i < setup_.gate_says.size(); ++i)
    some.push_back({Move::gate_answers, i});
  if (lags_) some.push_back({Move::watch_reports});
  // Time may pass when no step is possible but a fault or an act of the person, which may also come
  // later.
  if (some.empty() && !resting_ && !driver_->is_over()) some.push_back({Move::time_passes});
  const bool commits = asked_ && std::holds_alternative<Commit>(*asked_);
  if (commits && left_.unknowns > 0) {
    some.insert(some.end(), {{Move::done_unheard}, {Move::not_done_unheard}, {Move::late_unheard}});
  }
  if (!driver_->is_over() && left_.kills > 0) {
    some.push_back({Move::kill});
    if (commits) some.insert(some.end(), {{Move::kill_done}, {Move::freeze}});
  }
  add_steps_of_nodes(some);
  add_steps_of_person(some);
  return some;
}

// Adds the faults of nodes that are possible now.
void RolloutWorld::add_steps_of_nodes(std::vector<Step>& some) const {
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const NodeDouble& node = nodes_.at(ids_[i]);
    if (node.absent) {
      some.push_back({Move::node_returns, i});
      continue;
    }
    if (left_.abandoned > 0 && node.on_trial) some.push_back({Move::node_leaves, i});
    if (left_.absences > 0 && !driver_->is_over()) some.push_back({Move::node_vanishes, i});
  }
}

void RolloutWorld::add_steps_of_person(std::vector<Step>& some) const {
  const RolloutState state = rollout().state;
  const bool lives = state == RolloutState::rolling || state == RolloutState::paused ||
                     state == RolloutState::baking;
  const auto may = [&](RolloutOrder order) {
    const bool undoes = order == RolloutOrder::undo || order == RolloutOrder::undo_now;
    return lives || (undoes && (is_over(state) || state == RolloutState::aborting));
  };
  for (std::size_t i = 0; left_.orders > 0 && i < setup_.orders.size(); ++i) {
    if (may(setup_.orders[i])) some.push_back({Move::person_orders, i});
  }
  const bool stopped = store_.find(key_of(KeyKind::stop)) != nullptr;
  if (setup_.person_stops && !stopped && lives && left_.orders > 0) {
    some.push_back({Move::person_stops});
  }
  if (stopped) some.push_back({Move::person_lets_go});
  const bool orders_nodes = left_.orders > 0 && !driver_->is_over();
  for (std::size_t i = 0; orders_nodes && i < ids_.size(); ++i) {
    const bool is_known = store_.find(key_of(KeyKind::node_active, {ids_[i]})) != nullptr;
    if (setup_.person_pins && is_known) some.push_back({Move::person_pins, i});
    if (setup_.person_forgets && is_known && nodes_.at(ids_[i]).absent)
      some.push_back({Move::person_forgets, i});
  }
}

void RolloutWorld::make(const Step& step) {
  if (step.move != Move::time_passes) resting_ = false;
  const auto asked_commit = [this] { return std::get<Commit>(*asked_).transaction; };
  const auto hear_nothing = [this] {
    --left_.unknowns;
    asked_.reset();
    tell(TransactionEnded{Unknown{"no answer"}});
  };
  switch (step.move) {
    case Move::deliver:
      return deliver();
    case Move::done_unheard:
      static_cast<void>(commit(asked_commit(), driver_->fence()));
      return hear_nothing();
    case Move::not_done_unheard:
      return hear_nothing();
    case Move::late_unheard:
      late_.push_back({asked_commit(), driver_->fence(), false});
      return hear_nothing();
    case Move::late_arrives: {
      const Late late = late_.front();
      late_.erase(late_.begin());
      const bool done = std::holds_alternative<Committed>(commit(late.transaction, late.fence));
      if (done && late.zombie) is_wrong("a driver that was superseded has written");
      if (done && !driver_->is_over()) tell_changes();
      return;
    }
    case Move::kill_done:
      static_cast<void>(commit(asked_commit(), driver_->fence()));
      break;
    case Move::freeze:
      late_.push_back({asked_commit(), driver_->fence(), true});
      break;
    case Move::kill:
      break;
    case Move::node_acts:
      return node_acts(ids_[step.which]);
    case Move::node_leaves:
      return node_leaves(ids_[step.which]);
    case Move::node_vanishes:
      return node_vanishes(ids_[step.which]);
    case Move::node_returns:
      return node_returns(ids_[step.which]);
    case Move::person_orders:
    case Move::person_stops:
    case Move::person_lets_go:
    case Move::person_pins:
    case Move::person_forgets:
      return person_acts(step);
    case Move::gate_answers:
      return answer_gates(setup_.gate_says[step.which]);
    case Move::watch_reports:
      return report();
    case Move::time_passes:
      return pass_time();
  }
  --left_.kills;
  replace_driver();
}

void RolloutWorld::person_acts(const Step& step) {
  if (step.move == Move::person_lets_go) {
    store_.erase(key_of(KeyKind::stop));
    return tell_changes();
  }
  --left_.orders;
  if (step.move == Move::person_orders) return change_rollout(setup_.orders[step.which]);
  if (step.move == Move::person_pins) return pin(ids_[step.which]);
  if (step.move == Move::person_forgets) return forget(ids_[step.which]);
  write(key_of(KeyKind::stop), write_record(Stop{.who = "person"}));
}

void RolloutWorld::node_leaves(const std::string& node) {
  --left_.abandoned;
  nodes_.at(node).on_trial = nodes_.at(node).soaked = false;
  upgrade_is(node, UpgradePhase::unconfirmed, "no confirmation", nullptr);
}

// Ends the node's lease, as after a cut of its connection.
void RolloutWorld::node_vanishes(const std::string& node) {
  --left_.absences;
  nodes_.at(node).absent = nodes_.at(node).was_absent = true;
  store_.erase(key_of(KeyKind::node_instance, {node, "i"}));
  if (!driver_->is_over()) tell_changes();
}

void RolloutWorld::node_returns(const std::string& node) {
  nodes_.at(node).absent = nodes_.at(node).gone = false;
  register_node(node);
  if (!driver_->is_over()) tell_changes();
}

// Erases all records of the node, as `fleetctl forget` does.
void RolloutWorld::forget(const std::string& node) {
  const bool is_heard = !driver_->is_over() && !asked_ && late_.empty() && !lags_;
  nodes_.at(node).forgotten = true;
  nodes_.at(node).gone = is_heard && !is_end(record(node).value_or(RolloutNode{}).stage);
  static_cast<void>(store_.commit({.erases = {{node_prefix(node), true}}}));
  if (!driver_->is_over()) tell_changes();
}

void RolloutWorld::answer_gates(GateSays says) {
  const AskGates round = *std::exchange(asked_gates_, std::nullopt);
  gate_said_ = says;
  tell(GatesAnswered{round.round, {{"g", says, "1"}}});
}

void RolloutWorld::write(const std::string& key, const std::string& value) {
  store_.put(key, value);
  if (left_.lags > 0 && !lags_) {
    --left_.lags;
    lags_ = true;
  }
  if (!driver_->is_over()) tell_changes();
}

// Carries out a person's order. If the rollout is already paused, the order `pause` resumes it.
void RolloutWorld::change_rollout(RolloutOrder order) {
  Rollout now = rollout();
  if (order == RolloutOrder::undo || order == RolloutOrder::undo_now) {
    const bool at_once = order == RolloutOrder::undo_now;
    const auto wish = wished(now, at_once ? RolloutWish::undo_now : RolloutWish::undo, false);
    if (!wish || !wish.value().rollout) return;
    write(key_of(KeyKind::rollout, {"r"}), write_record(*wish.value().rollout));
    if (driver_->is_over()) replace_driver();
    return;
  }
  if (now.state == RolloutState::paused && order == RolloutOrder::pause) {
    now.state = RolloutState::rolling;
    now.order = RolloutOrder::none;
    now.reason.clear();
  } else {
    now.order = order;
  }
  write(key_of(KeyKind::rollout, {"r"}), write_record(now));
}

// Gives the node a desired version of its own, as `fleetctl desire --node` does. The record says
// whether the rollout had given the node an order before.
void RolloutWorld::pin(const std::string& node) {
  const std::string when = record(node) ? "after the order" : "before the order";
  write(key_of_node(KeyKind::node_desired, node),
        write_record(Desired{.version = "1", .why = when, .pinned = true, .trace = when}));
}

const Rollout& RolloutWorld::rollout() const {
  const KeyValue* there = store_.find(key_of(KeyKind::rollout, {"r"}));
  const Revision written = there == nullptr ? 0 : there->modified;
  if (rollout_read_.first != written)
    rollout_read_ = {written, read_record<Rollout>(there->value).value()};
  return rollout_read_.second;
}

const Command* RolloutWorld::command_of(const std::string& node) const {
  const KeyValue* there = store_.find(key_of_node(KeyKind::node_command, node));
  if (there == nullptr) return nullptr;
  auto& [written, command] = commands_read_[node];
  if (std::exchange(written, there->modified) != there->modified)
    command = read_record<Command>(there->value).value();
  return &command;
}

std::optional<RolloutNode> RolloutWorld::record(const std::string& node) const {
  return read<RolloutNode>(store_, key_of(KeyKind::rollout_node, {"r", node}));
}

// ---- nodes

// Returns the command that the node has to carry out now, or null. While the record `stop` exists,
// a node begins nothing but an undo.
const Command* RolloutWorld::due_command_of(const std::string& node) const {
  const Command* command = command_of(node);
  if (command == nullptr || command->id == nodes_.at(node).answered) return nullptr;
  const bool begins = !command->undo && (command->action == CommandAction::prepare ||
                                         command->action == CommandAction::apply);
  const bool stopped = store_.find(key_of(KeyKind::stop)) != nullptr;
  return begins && stopped ? nullptr : command;
}

bool RolloutWorld::can_act(const std::string& node) const {
  const NodeDouble& self = nodes_.at(node);
  if (self.nature == Nature::silent || self.absent) return false;
  const Command* command = command_of(node);
  if (command && command->action == CommandAction::apply && self.nature == Nature::lost_at_apply) {
    return false;
  }
  if (self.soaked && self.nature == Nature::lost_at_confirm) return false;
  return due_command_of(node) != nullptr || (self.on_trial && !self.soaked);
}

void RolloutWorld::node_acts(const std::string& node) {
  NodeDouble& self = nodes_.at(node);
  const Command* command = due_command_of(node);
  if (command != nullptr) return handle(node, self, Command(*command));
  if (self.nature == Nature::bad_soak && !self.undoes) {
    self.on_trial = false;
    return upgrade_is(node, UpgradePhase::failed, "exited with status 3 on trial", nullptr);
  }
  self.soaked = true;
  upgrade_is(node, UpgradePhase::soaked, "", nullptr);
}

void RolloutWorld::handle(const std::string& node, NodeDouble& self, const Command& command) {
  if (++self.executed[command.id] > 1) is_wrong(node + " executed " + command.id + " twice");
  self.answered = command.id;
  Answer answer{.command = command.id, .result = "done"};
  switch (command.action) {
    case CommandAction::prepare:
      if (self.nature == Nature::bad_prepare) answer.result = "no space left on device";
      break;
    case CommandAction::apply:
      if (self.nature == Nature::interrupted_once) {
        self.nature = Nature::good;
        answer.result = std::string(result_interrupted);
        break;
      }
      if (++self.executed[command.undo ? "undo" : "apply" + beginning_of(command)] > 1) {
        is_wrong(node + " began twice");
      }
      self.on_trial = self.nature != (command.undo ? Nature::bad_undo : Nature::bad_start);
      self.undoes = command.undo;
      self.soaked = false;
      if (!self.on_trial) answer.result = "exited with status 3";
      return upgrade_is(node, self.on_trial ? UpgradePhase::soaking : UpgradePhase::failed,
                        self.on_trial ? "" : "exited with status 3", &answer);
    case CommandAction::confirm:
      if (!self.on_trial || !self.soaked) {
        answer.result = "nothing to confirm";
        break;
      }
      self.on_trial = false;
      self.committed = !self.undoes;
      return upgrade_is(node, UpgradePhase::done, "", &answer);
    case CommandAction::rollback:
      if (self.committed) answer.result = std::string(result_committed);
      if (!self.on_trial) break;
      self.on_trial = self.soaked = false;
      return upgrade_is(node, UpgradePhase::rolled_back, "", &answer);
    default:
      is_wrong(node + " was told to " + command.id);
  }
  write(key_of_node(KeyKind::node_answer, node), write_record(answer));
}

// Writes the node's record `upgrade` and its answer in one transaction.
void RolloutWorld::upgrade_is(const std::string& node, UpgradePhase phase, const std::string& error,
                              const Answer* answer) {
  const std::string key = key_of_node(KeyKind::node_upgrade, node);
  Upgrade upgrade = read<Upgrade>(store_, key).value_or(Upgrade{});
  if (answer != nullptr && phase != UpgradePhase::done && phase != UpgradePhase::rolled_back) {
    upgrade.attempt = answer->command;
  }
  upgrade.phase = phase;
  upgrade.error = error;
  Transaction both{.puts = {{.key = key, .value = write_record(upgrade)}}};
  if (answer != nullptr) {
    both.puts.push_back(
        {.key = key_of_node(KeyKind::node_answer, node), .value = write_record(*answer)});
  }
  if (phase == UpgradePhase::done) {
    const std::string version = nodes_.at(node).committed ? "2" : "1";
    both.puts.push_back({.key = key_of(KeyKind::node_versions, {node}),
                         .value = write_record(Versions{{{std::string(component), version}}})});
  }
  static_cast<void>(store_.commit(both));
  if (!driver_->is_over()) tell_changes();
}

// ---- the state of the simulation as text

std::string RolloutWorld::end() const {
  return std::string(text_of(rollout().state));
}

std::string RolloutWorld::words() const {
  std::string text;
  for (const auto& [key, record] : store_.all()) {
    text += key + "@" + std::to_string(record.modified) + "=" + record.value + "\n";
  }
  for (const auto& [id, node] : nodes_) {
    text += id + std::to_string(static_cast<int>(node.nature)) + (node.on_trial ? "t" : "") +
            (node.soaked ? "s" : "") + (node.committed ? "c" : "") + (node.undoes ? "u" : "") +
            (node.absent ? "a" : "") + (node.was_absent ? "w" : "") + (node.forgotten ? "f" : "") +
            (node.gone ? "g" : "") + node.answered + "\n";
  }
  for (const Late& late : late_)
    text += "late " + fleet::words(late.transaction) + "\n";
  text += std::to_string(left_.kills) + " " + std::to_string(left_.unknowns) + " " +
          std::to_string(left_.abandoned) + " " + std::to_string(left_.orders) + " " +
          std::to_string(left_.absences) + (resting_ ? " rests" : "") +
          (asked_ ? " asked " + std::to_string(asked_->index()) : "");
  if (asked_gates_) text += " asks the gate";
  for (const TestStore::Change& change : unreported_)
    text += " lags " + change.record.key + "@" + std::to_string(change.record.modified) + "=" +
            change.record.value;
  text += " said " + std::to_string(static_cast<int>(gate_said_));
  return by_rank(text + "\n" + driver_->words(now_));
}

}  // namespace fleet_test
