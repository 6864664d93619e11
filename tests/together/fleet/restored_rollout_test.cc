// Tests rollouts in a store that was restored from a snapshot. The node's ledger (its list of
// commands) still has commands of rollouts that the restored store does not know. A new rollout
// with the same name as one of these rollouts must still move the node. A rollout that was under
// way in the snapshot must not move the node a second time.
#include <catch2/catch.hpp>

#include "fleet/model/agent/node_commander.h"
#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/enum_text.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/judge_watch.h"
#include "tests/together/fleet/test_store.h"

namespace restored_rollout_test {

namespace {

using namespace fleet;

constexpr Ms second = 1'000;
const std::string rollout_name = "spring2";
const std::string node_name = "n1";

std::string key_of_node(KeyKind kind) {
  return key_of(kind, {node_name, "agent"});
}

// A store, the driver of the rollout `spring2`, and a node with one component. The node's disk and
// the store answer at once. The node's upgrader starts every new version without a failure.
struct Cell : fleet_test::DriverWork {
  NodeCommander node;
  std::optional<RolloutDriver> driver;
  std::vector<std::string> begun;    // the ids of the upgrades that the upgrader was asked for
  std::vector<std::string> ordered;  // the ids of the commands that the node has seen
  CommandAction unheard = CommandAction::unknown;  // commands that do not reach the node
  Revision seen = 0;  // the revision of the command that the node saw last
  LeaseId lease = 100;
  Ms now = 0;

  explicit Cell(NodeLedger ledger = {})
      : node({node_name, "agent", "i1", "b1"}, std::move(ledger)) {
    store.put(key_of(KeyKind::node_active, {node_name}), "{}");
    store.put(key_of(KeyKind::node_versions, {node_name}),
              write_record(Versions{{{"agent", "1"}}}));
  }

  // Makes the node obey commands. A real node does so after a person has accepted the restored
  // store.
  void node_acts(const Restarted& upgrader = {}) {
    tell_node(upgrader);
    tell_node(ActiveIs{store.find(key_of(KeyKind::node_active, {node_name}))->modified});
  }

  // Writes the record with which `fleetctl restored` marks a store that was restored.
  void put_epoch() { store.put(key_of(KeyKind::epoch), write_record(Epoch{.number = 7})); }

  void put_rollout(const std::string& trace, const std::string& version) {
    const RolloutTerms terms{.component = "agent", .version = version, .soak_ms = 10 * second};
    const Rollout rollout{
        .terms = terms, .state = RolloutState::rolling, .batches = 1, .trace = trace};
    store.put(key_of(KeyKind::rollout_batch, {rollout_name}, 0),
              write_record(RolloutBatch{{node_name}}));
    store.put(key_of(KeyKind::rollout, {rollout_name}), write_record(rollout));
  }

  void put_and_tell(const std::string& key, const std::string& value) {
    store.put(key, value);
    tell(KeyChanged{*store.find(key)});
  }

  // Kills the driver, if there is one, and starts a new driver.
  void begin_driver() {
    if (driver) store.end_lease(lease++);
    asked.clear();
    driver.emplace("c1", rollout_name, lease);
    tell(BeginDriving{});
  }

  void tell(const DriverEvent& event) { take(driver->step(event, now)); }

  void tell_node(const NodeEvent& event) {
    for (const NodeAction& action : node.step(event, now))
      std::visit([this](const auto& what) { perform(what); }, action);
  }
  void perform(const Save&) { tell_node(Saved{}); }
  void perform(const Ask& ask) { tell_node(AskEnded{store.commit(ask.question)}); }
  void perform(const Report& report) {
    const Outcome outcome = store.commit(report.transaction);
    const auto changes = store.changes();
    tell_node(ReportEnded{outcome});
    for (const auto& change : changes) {
      if (driver && !driver->is_over()) tell(KeyChanged{change.record});
    }
  }
  void perform(const DoPrepare& prepare) { tell_node(PrepareEnded{prepare.command.id, ""}); }
  void perform(const BeginUpgrade& begin) {
    begun.push_back(begin.command.id);
    tell_node(UpgradeActivated{begin.command.id});
  }
  void perform(const SendCommit& commit) {
    tell_node(UpgradeEnded{.command = commit.upgrade, .ending = UpgradeEnding::committed});
  }
  void perform(const GoBack& back) {
    tell_node(UpgradeEnded{.command = back.upgrade, .ending = UpgradeEnding::rolled_back});
  }
  void perform(const PassGate&) {}
  void perform(const Reboot&) {}

  // Passes the node's current command to the node, if the command has changed since the last call.
  // Returns whether it has changed.
  bool show_command() {
    const KeyValue* record = store.find(key_of_node(KeyKind::node_command));
    const Revision there = record == nullptr ? 0 : record->modified;
    if (std::exchange(seen, there) == there) return false;
    if (record == nullptr) {
      tell_node(CommandGone{});
      return true;
    }
    const Command command = read_record<Command>(record->value).value();
    if (command.action == unheard) return false;
    ordered.push_back(command.id);
    tell_node(CommandSeen{command, there});
    return true;
  }

  void settle() {
    do {
      DriverWork::settle([this](const DriverEvent& event) { tell(event); });
    } while (show_command());
  }

  // Lets the driver and the node work for this time, or until the rollout has ended.
  void work(Ms time = 600 * second) {
    const Ms end = now + time;
    settle();
    while (now < end && !driver->is_over()) {
      now += second;
      tell(KeptAlive{});
      tell(TimePassed{});
      tell_node(NodeTimePassed{});
      settle();
    }
  }

  [[nodiscard]] Rollout rollout() const {
    return read_record<Rollout>(store.find(key_of(KeyKind::rollout, {rollout_name}))->value)
        .value();
  }
  [[nodiscard]] std::string state() const { return std::string(text_of(rollout().state)); }
  [[nodiscard]] RolloutNode rollout_node() const {
    const KeyValue* found = store.find(key_of(KeyKind::rollout_node, {rollout_name, node_name}));
    return read_record<RolloutNode>(found->value).value();
  }
};

// Returns the ledger (list of commands) of a node that has carried out a rollout `spring2` to the
// version 2.
NodeLedger ledger_after_rollout() {
  Cell cell;
  cell.node_acts();
  cell.put_rollout("1f6c23d9", "2");
  cell.begin_driver();
  cell.work();
  REQUIRE(cell.state() == "completed");
  REQUIRE(cell.begun == std::vector<std::string>{"spring2.apply.1"});
  return cell.node.ledger();
}

}  // namespace

TEST_CASE("a rollout that began after a restore moves a node that knows its name already") {
  Cell cell(ledger_after_rollout());
  cell.put_epoch();
  cell.node_acts();
  cell.put_rollout("a40b77e2", "3");

  cell.begin_driver();
  cell.work();

  CHECK(cell.state() == "completed");
  CHECK(cell.begun == std::vector<std::string>{"spring2.apply.1.a40b77"});
  CHECK(cell.node.ledger().upgrade.version == "3");
  CHECK(cell.rollout_node().stage == NodeStage::confirmed);
}

TEST_CASE("another driver continues a rollout that began after a restore, and repeats nothing") {
  Cell cell(ledger_after_rollout());
  cell.put_epoch();
  cell.node_acts();
  cell.put_rollout("a40b77e2", "3");
  cell.begin_driver();
  cell.work(5 * second);
  REQUIRE(cell.rollout_node().stage == NodeStage::applying);

  cell.begin_driver();
  cell.work();

  CHECK(cell.state() == "completed");
  CHECK(cell.begun == std::vector<std::string>{"spring2.apply.1.a40b77"});
}

TEST_CASE("a rollout that was under way in the snapshot does not move a node a second time") {
  Cell cell(ledger_after_rollout());
  cell.put_rollout("1f6c23d9", "2");
  cell.put_epoch();
  cell.node_acts();

  cell.begin_driver();
  cell.work();

  CHECK(cell.state() == "completed");
  CHECK(cell.begun.empty());
  CHECK(cell.ordered.front() == "spring2.prepare.1");
}

TEST_CASE(
    "after a restore, a node does not take the commit of an old rollout for that of a new one") {
  Cell cell(ledger_after_rollout());
  cell.put_epoch();
  cell.node_acts();
  cell.put_rollout("a40b77e2", "3");
  cell.unheard = CommandAction::apply;
  cell.begin_driver();
  cell.work(5 * second);
  REQUIRE(cell.rollout_node().stage == NodeStage::applying);

  Rollout rollout = cell.rollout();
  rollout.order = RolloutOrder::abort;
  cell.put_and_tell(key_of(KeyKind::rollout, {rollout_name}), write_record(rollout));
  cell.work();

  CHECK(cell.begun.empty());
  CHECK(cell.state() == "aborted");
  CHECK(cell.rollout_node().stage == NodeStage::rolled_back);
}

TEST_CASE("in a restored cell, a newer controller continues what an older one has ordered") {
  // This rollout is begun by an older controller, which does not know the record `epoch`.
  Cell before;
  before.node_acts();
  before.put_rollout("a40b77e2", "3");
  before.begin_driver();
  before.work(5 * second);
  REQUIRE(before.rollout_node().command == "spring2.apply.1");
  Cell cell(before.node.ledger());
  cell.put_epoch();
  cell.put_rollout("a40b77e2", "3");
  for (const std::string& key :
       {key_of(KeyKind::rollout_node, {rollout_name, node_name}),
        key_of_node(KeyKind::node_command), key_of_node(KeyKind::node_upgrade),
        key_of_node(KeyKind::node_answer), key_of_node(KeyKind::node_claim)}) {
    cell.store.put(key, before.store.find(key)->value);
  }
  cell.node_acts({.under_way = "spring2.apply.1", .activated_ago = second});

  cell.begin_driver();
  cell.work();

  CHECK(cell.state() == "completed");
  CHECK(cell.begun.empty());
  CHECK(cell.ordered.back() == "spring2.confirm.1");
}

TEST_CASE("in a restored cell, an older controller continues what a newer one has ordered") {
  Cell cell;
  cell.put_epoch();
  cell.node_acts();
  cell.put_rollout("a40b77e2", "3");
  cell.begin_driver();
  cell.work(5 * second);
  REQUIRE(cell.rollout_node().command == "spring2.apply.1.a40b77");

  // Erases the record `epoch`, so that the new driver behaves like an older controller.
  cell.store.erase(key_of(KeyKind::epoch));
  cell.begin_driver();
  cell.work();

  CHECK(cell.state() == "completed");
  CHECK(cell.ordered.back() == "spring2.confirm.1");
  CHECK(cell.begun.size() == 1);
}

TEST_CASE("only a rollout that is younger than the first restore has a life in its ids") {
  RolloutView view{.id = "r", .rollout = Rollout{.trace = "a40b77e2"}, .created = 5};
  CHECK(control_run(view) == "r.control.0");
  view.restored = 6;
  CHECK(control_run(view) == "r.control.0");
  view.restored = 4;
  CHECK(control_run(view) == "r.control.0.a40b77");
  CHECK(id_end(view, {}) == ".a40b77");
  CHECK(id_end(view, {.node = {.command = "r.prepare.1.a40b77"}}) == ".a40b77");
  CHECK(id_end(view, {.node = {.command = "r.prepare.1"}}).empty());
}

}  // namespace restored_rollout_test
