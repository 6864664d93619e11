// Tests how the driver of a rollout decides about nodes that do not answer in time: silent nodes,
// nodes that a person has removed from the cell, and nodes that the record `stop` keeps from
// beginning.
#include <catch2/catch.hpp>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/rollout_decision.h"

namespace rollout_late_test {

namespace {

using namespace fleet;

constexpr Ms second = 1'000;

// A rollout `r` with one batch, which consists of the nodes a and b, and its driver.
struct Bench {
  RolloutView view{.id = "r"};
  DriverFacts facts{.controller = "c", .fence = 5, .window = {.is_open = true}};
  Revision revision = 10;

  explicit Bench(Rollout rollout, const RolloutNode& node) {
    rollout.terms.component = "shop";
    rollout.terms.version = "2";
    rollout.terms.max_failed = 5;
    rollout.batches = 1;
    put(key_of(KeyKind::rollout, {"r"}), write_record(rollout));
    put(key_of(KeyKind::rollout_batch, {"r"}, 0), write_record(RolloutBatch{.nodes = {"a", "b"}}));
    for (const std::string id : {"a", "b"}) {
      put(key_of(KeyKind::node_active, {id}), write_record(Active{.instance = "i"}));
      put(key_of(KeyKind::node_instance, {id, "i"}), write_record(Instance{}));
      put(key_of(KeyKind::rollout_node, {"r", id}), write_record(node));
      put(key_of(KeyKind::node_claim, {id, "shop"}), write_record(Claim{.by = "rollout/r"}));
    }
  }

  void put(const std::string& key, const std::string& value) {
    view.take({.key = key, .value = value, .created = revision, .modified = revision});
    ++revision;
  }
  void fall_silent(const std::string& id) {
    view.take_absent(key_of(KeyKind::node_instance, {id, "i"}));
  }
  void answer(const std::string& id, const std::string& command,
              const std::string& result = "done") {
    put(key_of(KeyKind::node_answer, {id, "shop"}),
        write_record(Answer{.command = command, .result = result}));
  }
  void soaks(const std::string& id, UpgradePhase phase) {
    put(key_of(KeyKind::node_upgrade, {id, "shop"}),
        write_record(Upgrade{.phase = phase, .attempt = "r.apply.1"}));
  }

  // Returns the driver's decision at this time, in words. Gives the driver the lease that it wants.
  std::string decision(Ms now) {
    RolloutDecision made = decide(view, facts, now);
    facts.marks = made.marks;
    if (const auto* lease = std::get_if<WantLease>(&made.what)) {
      facts.lease = StepLease{turn_of(*view.rollout), lease->step, 7};
      made = decide(view, facts, now);
      facts.marks = made.marks;
    }
    if (const auto* wait = std::get_if<Wait>(&made.what))
      return wait->until ? "waits until " + std::to_string(*wait->until / second) : "waits";
    const auto* write = std::get_if<Write>(&made.what);
    if (write == nullptr) return "something else";
    std::string text = write->news;
    for (const Put& one : write->transaction.puts) {
      const auto key = parse_key(one.key);
      if (key->kind == KeyKind::node_command)
        text +=
            "orders " + read_record<Command>(one.value).value().id + " to " + key->names[0] + "; ";
    }
    return text;
  }
};

// A node that has kept version 2, and has just been ordered to prepare to go back to version 1.
const RolloutNode goes_back{.stage = NodeStage::preparing,
                            .command = "r.undo-prepare.1",
                            .attempt = 1,
                            .applied = true,
                            .before = "1",
                            .undo = true};
const Rollout undone{
    .state = RolloutState::undoing, .undo = true, .undo_now = true, .wish_refused = true};

const Rollout rolling{.terms = {.soak_ms = 30 * second}, .state = RolloutState::rolling};
RolloutNode ordered(NodeStage stage, const std::string& command, bool applied = false) {
  return {.stage = stage, .command = command, .attempt = 1, .applied = applied, .before = "1"};
}

// The marks of a driver that has given the orders of the batch itself.
const RolloutMarks own{.batch = 0, .prepare = 0, .apply = 0};

TEST_CASE("an undo waits a minute for a silent node, and ten for one that is there") {
  Bench bench(undone, goes_back);
  bench.answer("a", "r.undo-prepare.1");
  CHECK(bench.decision(0) == "waits until 600");
  bench.fall_silent("b");
  CHECK(bench.decision(1 * second) == "waits until 60");
  CHECK(bench.decision(60 * second) == "b: cannot go back: no answer to prepare");
}

TEST_CASE("an undo waits as long for a node that falls silent after its order to apply") {
  RolloutNode applies = goes_back;
  applies.stage = NodeStage::applying;
  applies.command = "r.undo-apply.1";
  Rollout slow = undone;
  slow.terms = {.soak_ms = 4 * 3'600 * second};
  Bench bench(slow, applies);
  bench.put(key_of(KeyKind::node_upgrade, {"a", "shop"}),
            write_record(Upgrade{.phase = UpgradePhase::soaked, .attempt = "r.undo-apply.1"}));
  CHECK(bench.decision(0) == "waits until 600");
  bench.fall_silent("b");
  CHECK(bench.decision(1 * second) == "waits until 60");
  CHECK(bench.decision(60 * second).starts_with("b: cannot go back: "));
}

TEST_CASE("an abort before an undo waits as long for a silent node as the undo") {
  const bool undoes = GENERATE(true, false);
  Bench bench({.state = RolloutState::aborting, .undo = undoes},
              ordered(NodeStage::rolling_back, "r.rollback.1", true));
  CHECK(bench.decision(0) == "waits until 300");
  bench.fall_silent("b");
  CHECK(bench.decision(1 * second) == (undoes ? "waits until 60" : "waits until 300"));
}

TEST_CASE("a driver that takes over does not blame nodes that are there and have not begun") {
  // There may have been a stop that no controller has seen.
  SECTION("a node that does not apply is left") {
    Bench bench(rolling, ordered(NodeStage::applying, "r.apply.1", true));
    bench.soaks("a", UpgradePhase::soaked);
    CHECK(bench.decision(0) == "waits until 240");
    CHECK(bench.decision(240 * second) == "b: another controller took over before it began");
  }
  SECTION("a node that does not prepare is ordered again") {
    Bench bench(rolling, ordered(NodeStage::preparing, "r.prepare.1"));
    bench.answer("a", "r.prepare.1");
    CHECK(bench.decision(0) == "waits until 600");
    CHECK(bench.decision(600 * second) == "orders r.prepare.2 to b; ");
  }
  SECTION("a silent node has failed") {
    Bench bench(rolling, ordered(NodeStage::applying, "r.apply.1", true));
    bench.soaks("a", UpgradePhase::soaked);
    bench.fall_silent("b");
    CHECK(bench.decision(0) == "waits until 240");
    CHECK(bench.decision(240 * second) ==
          "b: has not soaked in time to be confirmed with the others");
  }
}

TEST_CASE("a node that prepares again and falls silent is not waited for without an end") {
  Bench bench(rolling, ordered(NodeStage::preparing, "r.prepare.1", true));
  bench.answer("a", "r.prepare.1");
  bench.fall_silent("b");
  // The driver has taken the rollout over, so it does not know when the nodes were ordered to
  // apply.
  CHECK(bench.decision(0) == "waits until 600");
  CHECK(bench.decision(600 * second) == "b: no answer to prepare");
}

TEST_CASE("a node that a stop keeps from preparing in time is ordered again, and has not failed") {
  Bench bench(rolling, ordered(NodeStage::preparing, "r.prepare.1"));
  bench.answer("a", "r.prepare.1");
  CHECK(bench.decision(0) == "waits until 600");
  const std::string stop = key_of(KeyKind::stop);
  bench.put(stop, write_record(Stop{}));
  CHECK(bench.decision(1 * second) == "waits until 600");
  CHECK(bench.decision(600 * second) == "waits");

  bench.view.take_absent(stop);
  CHECK(bench.decision(700 * second) == "orders r.prepare.2 to b; ");
  bench.put(key_of(KeyKind::rollout_node, {"r", "b"}),
            write_record(ordered(NodeStage::preparing, "r.prepare.2")));
  CHECK(bench.decision(701 * second) == "waits until 1300");
  CHECK(bench.decision(1'300 * second) == "b: no answer to prepare");
}

TEST_CASE("a node that a stop keeps from applying in time is left as it is") {
  Bench bench(rolling, ordered(NodeStage::applying, "r.apply.1", true));
  bench.put(key_of(KeyKind::node_upgrade, {"a", "shop"}),
            write_record(Upgrade{.phase = UpgradePhase::soaked, .attempt = "r.apply.1"}));
  const bool is_stopped = GENERATE(true, false);
  bench.facts.marks = own;
  if (is_stopped) bench.put(key_of(KeyKind::stop), write_record(Stop{}));
  CHECK(bench.decision(0) == "waits until 240");
  bench.view.take_absent(key_of(KeyKind::stop));
  CHECK(bench.decision(240 * second) ==
        (is_stopped ? "b: a stop kept it from beginning in time"
                    : "b: has not soaked in time to be confirmed with the others"));
}

TEST_CASE("a node that begins late because of a stop, and does not soak in time, is left") {
  Bench bench(rolling, ordered(NodeStage::applying, "r.apply.1", true));
  bench.soaks("a", UpgradePhase::soaked);
  bench.facts.marks = own;
  bench.put(key_of(KeyKind::stop), write_record(Stop{}));
  CHECK(bench.decision(1 * second) == "waits until 240");
  bench.view.take_absent(key_of(KeyKind::stop));
  bench.soaks("b", UpgradePhase::staging);
  CHECK(bench.decision(230 * second) == "waits until 240");
  CHECK(bench.decision(240 * second) == "b: a stop kept it from beginning in time");
}

TEST_CASE("a stop excuses an interrupted node that prepares again and is late") {
  Bench bench(rolling, ordered(NodeStage::applying, "r.apply.1", true));
  bench.soaks("a", UpgradePhase::soaking);
  bench.answer("b", "r.apply.1", std::string(result_interrupted));
  bench.facts.marks = own;
  bench.put(key_of(KeyKind::stop), write_record(Stop{}));
  bench.decision(0);
  bench.view.take_absent(key_of(KeyKind::stop));
  CHECK(bench.decision(200 * second) == "orders r.prepare.2 to b; ");
  bench.put(key_of(KeyKind::rollout_node, {"r", "b"}),
            write_record(ordered(NodeStage::preparing, "r.prepare.2", true)));
  CHECK(bench.decision(240 * second) == "b: a stop kept it from beginning in time");
}

TEST_CASE("an interrupted node that may not begin again in time is left") {
  Bench bench(rolling, ordered(NodeStage::applying, "r.apply.1", true));
  bench.soaks("a", UpgradePhase::soaking);
  bench.answer("b", "r.apply.1", std::string(result_interrupted));
  const bool is_stopped = GENERATE(true, false);
  bench.facts.marks = own;
  if (is_stopped) bench.put(key_of(KeyKind::stop), write_record(Stop{}));
  if (!is_stopped) bench.facts.window = {.is_open = false, .until = 5'000 * second};
  CHECK(bench.decision(0) == "waits until 240");
  CHECK(bench.decision(240 * second) ==
        (is_stopped ? "b: a stop kept it from beginning in time"
                    : "b: was interrupted, and could not begin again in time"));
}

TEST_CASE("an interrupted node has a time of its own when no other node is on trial") {
  Bench bench(rolling, ordered(NodeStage::applying, "r.apply.1", true));
  bench.soaks("a", UpgradePhase::soaked);
  bench.answer("b", "r.apply.1", std::string(result_interrupted));
  bench.put(key_of(KeyKind::stop), write_record(Stop{}));
  CHECK(bench.decision(0) == "orders r.confirm.1 to a; ");
  bench.put(key_of(KeyKind::rollout_node, {"r", "a"}),
            write_record(ordered(NodeStage::confirming, "r.confirm.1", true)));
  bench.soaks("a", UpgradePhase::done);
  bench.view.take_absent(key_of(KeyKind::stop));
  CHECK(bench.decision(200 * second) == "orders r.prepare.2 to b; ");
  bench.put(key_of(KeyKind::rollout_node, {"r", "b"}),
            write_record(ordered(NodeStage::preparing, "r.prepare.2", true)));
  CHECK(bench.decision(201 * second) == "waits until 800");
}

TEST_CASE("a node that had begun before a stop, and does not soak in time, has failed") {
  Bench bench(rolling, ordered(NodeStage::applying, "r.apply.1", true));
  for (const std::string id : {"a", "b"})
    bench.put(key_of(KeyKind::node_upgrade, {id, "shop"}),
              write_record(Upgrade{.phase = UpgradePhase::staging, .attempt = "r.apply.1"}));
  bench.put(key_of(KeyKind::stop), write_record(Stop{}));
  CHECK(bench.decision(0) == "waits until 240");
  CHECK(bench.decision(240 * second) ==
        "a: has not soaked in time to be confirmed with the others; "
        "b: has not soaked in time to be confirmed with the others");
}

TEST_CASE("a node that was removed from the cell is left, and is no failure") {
  Bench bench(rolling, ordered(NodeStage::preparing, "r.prepare.1"));
  bench.answer("a", "r.prepare.1");
  bench.view.take_absent(key_of(KeyKind::node_active, {"b"}));
  CHECK(bench.decision(0) == "b: was removed from the cell");
}

TEST_CASE("a node that was removed before its turn gets no order") {
  Bench bench(rolling, RolloutNode{.stage = NodeStage::waiting});
  for (const std::string id : {"a", "b"})
    bench.view.take_absent(key_of(KeyKind::node_claim, {id, "shop"}));
  bench.view.take_absent(key_of(KeyKind::node_active, {"b"}));
  CHECK(bench.decision(0) == "b: was removed from the cell");
}

}  // namespace

}  // namespace rollout_late_test
