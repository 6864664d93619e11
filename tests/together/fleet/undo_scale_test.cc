// Measures, in simulated time, how long an undo of many nodes takes if it is ordered with `--now`.
// The driver is the real driver. Its store is in memory, but a write takes as long as with real
// members of etcd. A simulated node takes as long as a real machine that still has the old release
// on its disk. NODES=N sets the number of nodes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "tests/together/fleet/long_run.h"
#include "tests/together/fleet/test_store.h"

namespace undo_scale_test {
namespace {

using namespace fleet;

constexpr Ms second = 1'000;
// How long a write of the driver takes, and how long a watch takes to report a change, in
// milliseconds.
constexpr Ms write_ms = 20;
constexpr Ms watch_ms = 20;
// The times, in milliseconds, that a node needs for the commands prepare, apply and confirm. For
// prepare and confirm, the node writes its ledger (list of commands) and asks the store. For apply,
// it stops the running version, and starts the old version from its disk.
constexpr Ms prepare_takes = 500;
constexpr Ms apply_takes = 10 * second;
constexpr Ms confirm_takes = 500;

// A completed rollout of ten batches. A person has ordered its undo with --now.
struct Undo : fleet_test::DriverWork {
  RolloutDriver driver{"c", "r", 100};
  Ms now = 0;
  Ms free_at = 0;  // when the driver's last write ends
  std::vector<std::string> nodes;
  // The nodes that have a command and will answer it, sorted by the time of the answer.
  std::multimap<Ms, std::string> due;
  std::map<std::string, std::string> seen;
  std::size_t writes = 0;
  // Changes that have not been reported to the driver yet.
  std::vector<fleet_test::TestStore::Change> news;

  explicit Undo(std::size_t count) {
    constexpr std::size_t batches = 10;
    std::vector<RolloutBatch> all(batches);
    for (std::size_t i = 0; i < count; ++i) {
      nodes.push_back("n" + std::to_string(100'000 + i));
      const std::string& id = nodes.back();
      all[i * batches / count].nodes.push_back(id);
      store.put(key_of(KeyKind::rollout_node, {"r", id}),
                write_record(RolloutNode{.stage = NodeStage::confirmed,
                                         .command = "r.confirm.1",
                                         .attempt = 1,
                                         .applied = true,
                                         .before = "1"}));
      store.put(key_of(KeyKind::node_active, {id}), write_record(Active{.instance = "i"}));
      store.put(key_of(KeyKind::node_instance, {id, "i"}), write_record(Instance{}));
      store.put(key_of(KeyKind::node_versions, {id}), write_record(Versions{{{"agent", "2"}}}));
    }
    for (std::size_t i = 0; i < batches; ++i)
      store.put(key_of(KeyKind::rollout_batch, {"r"}, i), write_record(all[i]));
    store.put(key_of(KeyKind::rollout, {"r"}),
              write_record(Rollout{.terms = {.component = "agent",
                                             .version = "2",
                                             .order = NodeOrder::random,
                                             .seed = "s",
                                             .spread_ms = -1},
                                   .state = RolloutState::undoing,
                                   .batch = static_cast<std::int64_t>(batches) - 1,
                                   .batches = static_cast<std::int64_t>(batches),
                                   .undo = true,
                                   .undo_now = true}));
    take(driver.step(BeginDriving{}, now));
  }

  [[nodiscard]] Rollout rollout() const {
    return read_record<Rollout>(store.find(key_of(KeyKind::rollout, {"r"}))->value).value();
  }

  void put(const std::string& key, const std::string& value) {
    store.put(key, value);
    note_changes();
  }
  void note_changes() { news.insert(news.end(), store.changes().begin(), store.changes().end()); }

  // Reports to the driver all changes that have not been reported to it yet.
  void tell_changes() {
    const auto changes = std::exchange(news, {});
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const bool more = i + 1 < changes.size();
      const KeyValue& record = changes[i].record;
      if (changes[i].erased) {
        take(driver.step(KeyErased{record.key, record.modified, more}, now));
      } else {
        take(driver.step(KeyChanged{record, more}, now));
      }
    }
  }

  // Finds the commands in the driver's transaction. The node of each command will answer it after
  // the time that the command takes.
  void see_orders(const Transaction& transaction) {
    for (const Put& put : transaction.puts) {
      const auto key = parse_key(put.key);
      if (!key || key->kind != KeyKind::node_command) continue;
      const Command command = read_record<Command>(put.value).value();
      Ms takes = command.delay_ms + watch_ms;
      if (command.action == CommandAction::prepare) takes += prepare_takes;
      if (command.action == CommandAction::apply) takes += apply_takes;
      if (command.action == CommandAction::confirm) takes += confirm_takes;
      due.emplace(now + takes, key->names[0]);
    }
  }

  void answers(const std::string& id) {
    const KeyValue* found = store.find(key_of(KeyKind::node_command, {id, "agent"}));
    if (found == nullptr) return;
    const Command command = read_record<Command>(found->value).value();
    Upgrade upgrade{.attempt = command.id};
    if (command.action == CommandAction::apply) upgrade.phase = UpgradePhase::soaked;
    if (command.action == CommandAction::apply) seen[id] = command.id;
    if (command.action == CommandAction::confirm) {
      upgrade.phase = UpgradePhase::done;
      upgrade.attempt = seen[id];
      put(key_of(KeyKind::node_versions, {id}), write_record(Versions{{{"agent", "1"}}}));
    }
    if (command.action != CommandAction::prepare)
      put(key_of(KeyKind::node_upgrade, {id, "agent"}), write_record(upgrade));
    put(key_of(KeyKind::node_answer, {id, "agent"}),
        write_record(Answer{.command = command.id, .result = "done"}));
  }

  // Carries out the driver's actions. A write takes `write_ms` of the simulated time.
  void drive() {
    while (!asked.empty() && now >= free_at) {
      const DriverAction action = asked.front();
      asked.erase(asked.begin());
      if (const auto* commit = std::get_if<Commit>(&action)) {
        const Outcome outcome = store.commit(commit->transaction);
        REQUIRE(std::holds_alternative<Committed>(outcome));
        ++writes;
        see_orders(commit->transaction);
        free_at = now + write_ms;
        note_changes();
        take(driver.step(TransactionEnded{outcome}, now));
        tell_changes();
      } else if (const auto* reading = std::get_if<WantReading>(&action)) {
        take(driver.step(ReadingEnded{store.read(reading->prefixes)}, now));
      } else if (std::holds_alternative<GrantLease>(action)) {
        take(driver.step(LeaseGranted{7}, now));
      }
    }
  }

  // Runs the simulation until the undo has ended. Returns how long the undo took, or no value if it
  // has not ended within an hour.
  std::optional<Ms> run() {
    while (now < 3'600 * second) {
      drive();
      if (is_over(rollout().state)) return now;
      now += write_ms;
      bool any = false;
      while (!due.empty() && due.begin()->first <= now) {
        answers(due.begin()->second);
        due.erase(due.begin());
        any = true;
      }
      if (any) tell_changes();
      if (now % second == 0) {
        take(driver.step(KeptAlive{}, now));
        if (asked.empty()) take(driver.step(TimePassed{}, now));
      }
    }
    return std::nullopt;
  }
};

// Requirements (tests/judging/rows): S-08
TEST_CASE("all nodes are back within 60 s of an undo with --now, beside what a node itself takes") {
  const std::size_t count = fleet_test::number_of("NODES", 1'000);
  Undo undo(count);
  const auto took = undo.run();
  REQUIRE(took);
  CHECK(undo.rollout().state == RolloutState::undone);
  CHECK(undo.rollout().kept == 0);
  for (const std::string& id : undo.nodes) {
    const KeyValue* found = undo.store.find(key_of(KeyKind::rollout_node, {"r", id}));
    REQUIRE(read_record<RolloutNode>(found->value).value().stage == NodeStage::undone);
  }
  const Ms beside = *took - prepare_takes - apply_takes - confirm_takes;
  CHECK(beside <= 60 * second);
  fleet_test::report("make judge NODES=" + std::to_string(count),
                     "all of " + std::to_string(count) + " nodes are back " +
                         std::to_string(beside / second) + " s after undo --now, beside " +
                         std::to_string((*took - beside) / second) +
                         " s that a node itself takes, by " + std::to_string(undo.writes) +
                         " writes of " + std::to_string(write_ms) + " ms",
                     "within 60 s");
}

}  // namespace
}  // namespace undo_scale_test
