// Tests which orders, pins, places and reasons a rollout writes, leaves or gives back, as the pages
// promise them: when a batch is confirmed, aborted, undone or done again, and when somebody else
// changes a node or the rollout meanwhile.
#include <catch2/catch.hpp>

#include "fleet/model/drivers/drivers.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_wish.h"
#include "tests/together/fleet/test_store.h"

namespace rollout_keeps_test {

namespace {

using namespace fleet;

constexpr Ms second = 1'000;
constexpr Ms soak = 60 * second;
using Batches = std::vector<std::vector<std::string>>;

// A rollout from version 1 to version 2 and its driver, with a clock that the test moves. The test
// writes what the nodes report.
struct Bench : fleet_test::DriverBench<RolloutDriver> {
  std::vector<Ms> leases;  // the times to live of the leases that the driver has asked for
  std::int64_t round = 0;  // the round in which the gates were asked last

  explicit Bench(const Batches& batches, RolloutTerms terms = {},
                 const std::string& settings = "{}")
      : DriverBench(RolloutDriver("c1", "r", 100)) {
    sees = [this](const DriverAction& action) {
      if (const auto* wants = std::get_if<GrantLease>(&action)) leases.push_back(wants->ttl_ms);
      if (const auto* asks = std::get_if<AskGates>(&action)) round = asks->round;
    };
    terms.component = "agent";
    terms.version = "2";
    terms.soak_ms = soak;
    store.put(key_of(KeyKind::settings), settings);
    for (std::uint64_t each = 0; each < batches.size(); ++each) {
      store.put(key_of(KeyKind::rollout_batch, {"r"}, each),
                write_record(RolloutBatch{batches[each]}));
      for (const std::string& id : batches[each]) {
        store.put(key_of(KeyKind::node_active, {id}), "{}");
        store.put(key_of(KeyKind::node_instance, {id, "i"}), "{}");
        store.put(key_of(KeyKind::node_info, {id}), R"({"labels":{"site":"north"}})");
        runs(id, "1");
      }
    }
    store.put(own(), write_record(Rollout{.terms = terms,
                                          .state = RolloutState::rolling,
                                          .batches = static_cast<std::int64_t>(batches.size())}));
    begin();
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  static std::string own() { return key_of(KeyKind::rollout, {"r"}); }
  static std::string of(KeyKind kind, const std::string& node) {
    return key_of(kind, {node, "agent"});
  }
  void wait(Ms time) {
    for (const Ms end = now + time; now < end; now += second) {
      tell(KeptAlive{});
      tell(TimePassed{});
      settle();
    }
    tell(KeptAlive{});
    settle();
  }
  void gate_says(GateSays says) {
    tell(GatesAnswered{round, {{"g", says, "says so"}}});
    settle();
  }

  // ---- reports of a node

  void runs(const std::string& node, const std::string& version) {
    put(key_of(KeyKind::node_versions, {node}), write_record(Versions{{{"agent", version}}}));
  }
  void answers(const std::string& node, const std::string& result = "done") {
    put(of(KeyKind::node_answer, node),
        write_record(Answer{.command = command(node)->id, .result = result}));
  }
  // Reports that the node's upgrade, which the node has begun by its last `apply`, is in `phase`.
  void upgrade(const std::string& node, UpgradePhase phase) {
    if (command(node)->action == CommandAction::apply) attempts[node] = command(node)->id;
    put(of(KeyKind::node_upgrade, node),
        write_record(Upgrade{.phase = phase, .attempt = attempts[node], .error = "broken"}));
  }
  void soaks(const std::string& node) {
    answers(node);
    upgrade(node, UpgradePhase::soaking);
    answers(node);
    runs(node, "2");
    upgrade(node, UpgradePhase::soaked);
  }
  void is_confirmed(const std::string& node) {
    soaks(node);
    REQUIRE(command(node)->action == CommandAction::confirm);
    upgrade(node, UpgradePhase::done);
    REQUIRE(stage(node) == NodeStage::confirmed);
  }
  void pin(const std::string& node, const std::string& version) {
    put(of(KeyKind::node_desired, node),
        write_record(Desired{.version = version, .pinned = true, .trace = "pin-" + version}));
  }

  // ---- the records

  template <class Record>
  std::optional<Record> record(const std::string& key) const {
    const KeyValue* found = store.find(key);
    if (found == nullptr) return std::nullopt;
    return read_record<Record>(found->value).value();
  }
  Rollout rollout() const { return *record<Rollout>(own()); }
  RolloutNode node(const std::string& id) const {
    return record<RolloutNode>(key_of(KeyKind::rollout_node, {"r", id})).value_or(RolloutNode{});
  }
  NodeStage stage(const std::string& id) const { return node(id).stage; }
  std::optional<Command> command(const std::string& id) const {
    return record<Command>(of(KeyKind::node_command, id));
  }
  std::string desired(const std::string& id) const {
    return record<Desired>(of(KeyKind::node_desired, id)).value_or(Desired{}).version;
  }
  void order(RolloutWish wish, bool leave = false) {
    const auto wanted = ordered("r", *store.find(own()), wish, leave, "anna");
    REQUIRE(wanted);
    REQUIRE(wanted.value().transaction);
    REQUIRE(std::holds_alternative<Committed>(store.commit(*wanted.value().transaction)));
    if (driver.is_over()) {
      store.end_lease(100);
      driver = RolloutDriver("c2", "r", 101);
      return put_driver();
    }
    tell(KeyChanged{*store.find(own())});
    settle();
  }
  void put_driver() {
    tell(BeginDriving{});
    settle();
  }

  std::map<std::string, std::string> attempts;
};

// ---- pins

TEST_CASE("a rollout that confirms a node leaves a pin that a person has written meanwhile") {
  Bench bench({{"n"}});
  bench.soaks("n");
  const bool is_pinned = GENERATE(true, false);
  if (is_pinned) bench.pin("n", "3");
  bench.upgrade("n", UpgradePhase::done);
  CHECK(bench.stage("n") == NodeStage::confirmed);
  CHECK(bench.desired("n") == (is_pinned ? "3" : "2"));
}

TEST_CASE("an undo takes back its own desired version of a node, and no later pin") {
  Bench bench({{"n"}});
  bench.is_confirmed("n");
  const bool is_pinned = GENERATE(true, false);
  if (is_pinned) bench.pin("n", "3");
  bench.order(RolloutWish::undo);
  bench.soaks("n");
  bench.runs("n", "1");
  bench.upgrade("n", UpgradePhase::done);
  CHECK(bench.stage("n") == NodeStage::undone);
  CHECK(bench.rollout().state == RolloutState::undone);
  CHECK(bench.desired("n") == (is_pinned ? "3" : ""));
}

// ---- undo

TEST_CASE("an undo of a completed rollout takes back the last batch first") {
  Bench bench({{"a"}, {"b"}});
  bench.is_confirmed("a");
  bench.is_confirmed("b");
  REQUIRE(bench.rollout().state == RolloutState::completed);
  bench.order(RolloutWish::undo);
  CHECK(bench.stage("b") == NodeStage::preparing);
  CHECK(bench.command("b")->undo);
  CHECK(bench.stage("a") == NodeStage::confirmed);
}

TEST_CASE("an undo takes back a confirmed node whose report of the new version is late") {
  const std::string reported = GENERATE("1", "");
  Bench bench({{"n"}});
  bench.is_confirmed("n");
  bench.runs("n", reported);
  bench.order(RolloutWish::undo);
  CHECK(bench.stage("n") == NodeStage::preparing);
}

TEST_CASE("a rollout with --undo is undone if too many nodes fail, or a gate says worse") {
  const bool has_undo = GENERATE(true, false);
  const bool has_gate = GENERATE(true, false);
  RolloutTerms terms{.undo = has_undo};
  if (has_gate) terms.gates = {"g"};
  Bench bench({{"a"}, {"b"}}, terms);
  bench.soaks("a");
  if (has_gate) bench.gate_says(GateSays::well);
  bench.upgrade("a", UpgradePhase::done);
  REQUIRE(bench.stage("a") == NodeStage::confirmed);
  if (has_gate) {
    bench.soaks("b");
    bench.gate_says(GateSays::worse);
    bench.upgrade("b", UpgradePhase::rolled_back);
    CHECK(bench.rollout().reason == "gate g: worse: says so");
    CHECK(bench.rollout().gates == std::vector<GateStand>{{"g", GateSays::worse, "says so"}});
  } else {
    bench.answers("b", "no space left");
    CHECK(bench.rollout().reason == "1 failed, max-failed is 1: b: no space left");
  }
  CHECK(bench.rollout().state == (has_undo ? RolloutState::undoing : RolloutState::aborted));
}

TEST_CASE("an order to undo that was given before is not given again") {
  Rollout rollout{.state = RolloutState::rolling, .undo = true};
  CHECK_FALSE(wished(rollout, RolloutWish::undo, false).value().rollout);
  CHECK(wished(rollout, RolloutWish::undo_now, false).value().rollout);
  rollout.undo_now = true;
  CHECK_FALSE(wished(rollout, RolloutWish::undo_now, false).value().rollout);
  rollout.state = RolloutState::undoing;
  CHECK(wished(rollout, RolloutWish::undo_now, false).value().words ==
        "is being undone, as before");
}

// ---- aborts

TEST_CASE("an abort with --leave orders no node to go back, and one without it does") {
  const bool leave = GENERATE(true, false);
  Bench bench({{"n"}});
  bench.answers("n");
  bench.upgrade("n", UpgradePhase::soaking);
  bench.order(RolloutWish::abort, leave);
  CHECK(bench.stage("n") == (leave ? NodeStage::left : NodeStage::rolling_back));
  CHECK((bench.rollout().state == RolloutState::aborted) == leave);
  CHECK(bench.command("n").has_value() != leave);
}

TEST_CASE("a rollout without --max-failed goes on while few of many nodes have failed") {
  std::vector<std::string> nodes;
  for (int i = 100; i < 500; ++i)
    nodes.push_back("n" + std::to_string(i));
  Bench bench({nodes}, {.max_failed_unsaid = true});
  for (std::size_t i = 0; i < 3; ++i)
    bench.answers(nodes[i], "no space left");
  CHECK(bench.rollout().failed == 3);
  CHECK(bench.rollout().state == RolloutState::rolling);
  bench.answers(nodes[3], "no space left");
  CHECK(bench.rollout().state == RolloutState::aborted);
}

TEST_CASE("a rollout that no node has kept is aborted, and does not bake first") {
  Bench bench({{"n"}}, {.max_failed = 2, .bake_ms = 60 * second});
  bench.answers("n", "no space left");
  CHECK(bench.rollout().state == RolloutState::aborted);
  CHECK(bench.rollout().reason == "no node has kept 2");
}

TEST_CASE("a rollout that is erased ends its driver, and is not written again") {
  Bench bench({{"n"}});
  bench.erase(Bench::own());
  CHECK(bench.driver.is_over());
  CHECK(bench.told.back() == "rollout r is not driven any longer: it is not there");
  CHECK(bench.store.find(Bench::own()) == nullptr);
}

// ---- the end of single nodes

TEST_CASE("a node that has failed and is then removed from the cell stays failed") {
  Bench bench({{"a", "b"}}, {.max_failed = 2});
  bench.answers("a", "no space left");
  REQUIRE(bench.stage("a") == NodeStage::failed);
  bench.erase(key_of(KeyKind::node_active, {"a"}));
  CHECK(bench.stage("a") == NodeStage::failed);
  CHECK(bench.node("a").error == "no space left");
  bench.erase(key_of(KeyKind::node_active, {"b"}));
  CHECK(bench.stage("b") == NodeStage::left);
}

TEST_CASE("a node that was interrupted twice has its third try, and no fourth") {
  Bench bench({{"n"}});
  bench.answers("n", "interrupted");
  bench.answers("n", "interrupted");
  CHECK(bench.command("n")->id == "r.prepare.3");
  bench.wait(10 * second);
  CHECK(bench.stage("n") == NodeStage::preparing);
  if (GENERATE(true, false)) {
    bench.answers("n");
    CHECK(bench.stage("n") == NodeStage::applying);
  } else {
    bench.answers("n", "interrupted");
    CHECK(bench.node("n").error == "interrupted 3 times");
  }
}

TEST_CASE("a node that ends gives its place of a budget back") {
  const bool is_good = GENERATE(true, false);
  Bench bench({{"n"}}, {.max_failed = 2}, R"({"unavailable.site":"1"})");
  const std::string place = key_of(KeyKind::place, {"site", place_value("north"), "0"});
  bench.answers("n");
  CHECK(bench.record<BudgetPlace>(place) == BudgetPlace{"n", "rollout/r", "north"});
  bench.answers("n");
  bench.upgrade("n", is_good ? UpgradePhase::soaked : UpgradePhase::failed);
  if (is_good) bench.upgrade("n", UpgradePhase::done);
  CHECK(bench.stage("n") == (is_good ? NodeStage::confirmed : NodeStage::failed));
  CHECK(bench.store.find(place) == nullptr);
}

// ---- commands

TEST_CASE("a command is given in time, on a lease of its own that lasts for the whole batch") {
  Bench bench({{"a", "b"}}, {.confirm_ms = 600 * second, .spread_ms = 40 * second});
  CHECK(bench.command("b")->not_after_ms == prepare_ms + 20 * second);
  bench.answers("a", "interrupted");
  bench.answers("a");
  bench.answers("b");
  // A node that begins later than this could not soak before the first node of its batch goes back.
  const Ms apply = 600 * second - confirm_margin_ms - soak;
  CHECK(bench.command("a")->not_after_ms == apply);
  CHECK(bench.command("b")->not_after_ms == apply + 20 * second);
  for (const char* id : {"a", "b"}) {
    bench.answers(id);
    bench.upgrade(id, UpgradePhase::soaked);
  }
  CHECK(bench.leases == std::vector<Ms>{prepare_ms + 40 * second, prepare_ms + 40 * second,
                                        apply + 40 * second, confirm_answer_ms});
}

TEST_CASE("a stop that comes while a batch begins is heeded, and does not hold its confirm") {
  Bench bench({{"n"}});
  bench.answers("n");
  bench.upgrade("n", UpgradePhase::soaking);
  bench.put(key_of(KeyKind::stop), "{}");
  bench.upgrade("n", UpgradePhase::soaked);
  CHECK(bench.command("n")->action == CommandAction::confirm);
}

TEST_CASE("a node whose roll-back was interrupted has the whole time to go back again") {
  Bench bench({{"n"}});
  bench.answers("n");
  bench.upgrade("n", UpgradePhase::soaking);
  bench.order(RolloutWish::abort);
  bench.wait(rollback_ms - second);
  bench.answers("n", "interrupted");
  CHECK(bench.command("n")->id == "r.rollback.2");
  bench.wait(rollback_ms - second);
  CHECK(bench.stage("n") == NodeStage::rolling_back);
  bench.wait(second);
  CHECK(bench.stage("n") == NodeStage::failed);
}

// ---- gates

TEST_CASE("a batch that no gate has judged goes back, and is done again as new when resumed") {
  Bench bench({{"n"}}, {.gates = {"g"}});
  bench.answers("n", "interrupted");
  bench.soaks("n");
  bench.gate_says(GateSays::not_known);
  CHECK(bench.rollout().gates == std::vector<GateStand>{{"g", GateSays::not_known, "says so"}});
  for (Ms waited = 0; bench.stage("n") == NodeStage::applying && waited < 3'600 * second;
       waited += 10 * second) {
    bench.wait(10 * second);
    bench.gate_says(GateSays::not_known);
  }
  CHECK(bench.command("n")->action == CommandAction::rollback);
  CHECK(bench.rollout().reason == "not judged: gate g: not known: says so");
  bench.runs("n", "1");
  bench.upgrade("n", UpgradePhase::rolled_back);
  CHECK(bench.stage("n") == NodeStage::not_judged);
  CHECK(bench.rollout().state == RolloutState::paused);
  CHECK_FALSE(bench.command("n"));

  const bool is_claimed = GENERATE(false, true);
  if (is_claimed) bench.put(Bench::of(KeyKind::node_claim, "n"), R"({"by":"rollout/s"})");
  bench.order(RolloutWish::resume);
  if (is_claimed) {
    CHECK(bench.stage("n") == NodeStage::left);
    CHECK(bench.node("n").error == "claimed by rollout/s");
    return;
  }
  CHECK(bench.command("n")->id == "r.prepare.4");
  CHECK(bench.node("n") == RolloutNode{.stage = NodeStage::preparing,
                                       .command = "r.prepare.4",
                                       .attempt = 1,
                                       .before = "1",
                                       .again = 1});
  bench.soaks("n");
  bench.gate_says(GateSays::well);
  bench.upgrade("n", UpgradePhase::done);
  CHECK(bench.rollout().state == RolloutState::completed);
}

TEST_CASE("a batch whose nodes have all failed waits for no gate") {
  Bench bench({{"a"}, {"b"}}, {.max_failed = 3, .gates = {"g"}});
  bench.answers("a", "no space left");
  CHECK(bench.rollout().batch == 1);
}

TEST_CASE("a confirm that was interrupted is given again, though a gate has turned meanwhile") {
  Bench bench({{"n"}}, {.gates = {"g"}});
  bench.soaks("n");
  bench.gate_says(GateSays::well);
  REQUIRE(bench.command("n")->id == "r.confirm.1");
  bench.wait(30 * second);
  bench.gate_says(GateSays::not_known);
  bench.answers("n", "interrupted");
  CHECK(bench.command("n")->id == "r.confirm.2");
}

TEST_CASE("the record of a baking rollout has the gates' last answers") {
  Bench bench({{"n"}}, {.gates = {"g"}, .bake_ms = 3'600 * second});
  bench.soaks("n");
  bench.gate_says(GateSays::well);
  bench.upgrade("n", UpgradePhase::done);
  REQUIRE(bench.rollout().state == RolloutState::baking);
  bench.gate_says(GateSays::not_known);
  CHECK(bench.rollout().gates == std::vector<GateStand>{{"g", GateSays::not_known, "says so"}});
  bench.wait(60 * second);
  bench.gate_says(GateSays::worse);
  CHECK(bench.rollout().reason == "gate g: worse: says so");
}

}  // namespace

}  // namespace rollout_keeps_test
