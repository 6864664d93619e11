// Tests the judge of a rollout, which compares nodes with the new version and nodes with the old
// one. Tests which facts the judge derives from the records in the store, and what the driver (the
// controller that steers the rollout) does after each decision of the judge.
#include "fleet/model/rollouts/judge_watch.h"

#include <catch2/catch.hpp>

#include "fleet/model/records/record_rules.h"
#include "tests/together/fleet/judge_bench.h"

namespace judge_watch_test {
namespace {

using namespace fleet;
using fleet_test::minute;
using fleet_test::second;
using Bench = fleet_test::JudgeBench;
using Ids = Bench::Ids;

TEST_CASE("new nodes whose fleet-agent restarts by itself abort the rollout, with the reason") {
  Bench bench;
  bench.first_soaks();
  bench.wait(5 * minute);
  CHECK(bench.judge().fresh == 51);
  CHECK(bench.judge().control == 60);
  CHECK(bench.judge().verdict == "not known");

  for (int i = 0; i < 9; ++i)
    bench.starts(bench.first[static_cast<std::size_t>(i)]);
  bench.wait(5 * minute);

  CHECK(bench.judge().verdict == "worse");
  CHECK(bench.judge().fresh_failed == 9);
  CHECK(bench.rollout().state == RolloutState::aborting);
  CHECK(bench.rollout().reason == "judge: " + bench.judge().words);
  CHECK(
      bench.judge().words.starts_with("new: 9 of 51 failed first, control: 0 of 60: worse, e = "));
}

// Sets two terms of the rollout, both in millionths, before its first batch begins. `alpha` is the
// probability with which the judge may stop a good version. `tolerate` is the tolerated failure
// rate of the new version, relative to that of the old version. Then lets the first batch run the
// new version for some minutes.
void begins_with(Bench& bench, std::int64_t alpha, std::int64_t tolerate) {
  Rollout rollout = bench.rollout();
  rollout.terms.alpha_millionths = alpha;
  rollout.terms.tolerate_millionths = tolerate;
  bench.put(key_of(KeyKind::rollout, {"r"}), write_record(rollout));
  bench.replace_driver();
  bench.first_soaks();
  bench.wait(5 * minute);
}

TEST_CASE("with an alpha of 0.05 the limit is 20, and fewer failures abort the rollout") {
  const bool is_said = GENERATE(false, true);
  Bench bench;
  begins_with(bench, is_said ? 50'000 : alpha_default, tolerate_default);
  for (std::size_t i = 0; i < 5; ++i)
    bench.starts(bench.first[i]);
  bench.wait(5 * minute);

  CAPTURE(bench.judge().words);
  CHECK(bench.judge().words.starts_with(
      is_said ? "new: 5 of 51 failed first, control: 0 of 60: worse, e = 26 > 20"
              : "new: 5 of 51 failed first, control: 0 of 60: not known, e = 26:"));
  CHECK((bench.rollout().state == RolloutState::aborting) == is_said);
}

TEST_CASE("with twice as many failures tolerated, the same failures are less evidence") {
  const bool is_said = GENERATE(false, true);
  const bool is_replaced = GENERATE(false, true);
  Bench bench;
  begins_with(bench, alpha_default, is_said ? 2'000'000 : tolerate_default);
  for (std::size_t i = 0; i < 9; ++i) {
    bench.starts(bench.first[i]);
    if (i != 4 || !is_replaced) continue;
    bench.wait(3 * minute);
    // The next driver must tolerate as many failures as the first driver, so that the results are
    // the same as without a replacement.
    bench.replace_driver();
    bench.wait(3 * minute);
  }
  bench.wait(5 * minute);

  CAPTURE(bench.judge().words);
  CHECK(bench.judge().words.starts_with(
      is_said ? "new: 9 of 51 failed first, control: 0 of 60: not known, e = 41:"
              : "new: 9 of 51 failed first, control: 0 of 60: worse, e = 588 > 100"));
  CHECK((bench.rollout().state == RolloutState::rolling) == is_said);
}

TEST_CASE("the judge's record can be read even if more nodes have failed than it may list") {
  Bench bench;
  bench.first_soaks();
  bench.wait(5 * minute);
  RolloutJudge judge = bench.judge();
  for (std::int64_t other = 1; judge.failed.size() < judge_failed_max - 1; ++other)
    judge.failed.push_back(other);
  bench.put(key_of(KeyKind::rollout_judge, {"r"}), write_record(judge));
  bench.replace_driver();
  bench.wait(5 * minute);

  for (std::size_t i = 0; i < 3; ++i)
    bench.starts(bench.first[i]);
  bench.wait(5 * minute);

  CHECK(bench.judge().failed.size() == judge_failed_max);
}

TEST_CASE("the judge's record can be read even if the times of a bake add up to too much") {
  Bench bench;
  bench.first_soaks();
  bench.wait(5 * minute);
  Rollout rollout = bench.rollout();
  rollout.terms.bake_ms = 30 * 24 * 60 * minute;
  rollout.state = RolloutState::baking;
  RolloutJudge judge = bench.judge();
  const Ms most = batch_nodes_max * record_ms_max;
  judge.bake_ms = most - 1;
  bench.put(key_of(KeyKind::rollout, {"r"}), write_record(rollout));
  bench.put(key_of(KeyKind::rollout_judge, {"r"}), write_record(judge));
  bench.replace_driver();

  bench.wait(24 * 60 * minute);

  CHECK(bench.judge().bake_ms == most);
}

TEST_CASE("when as many control nodes restart, nothing follows") {
  Bench bench;
  bench.first_soaks();
  bench.wait(5 * minute);
  const Ids control = bench.last(9);
  for (std::size_t i = 0; i < 9; ++i) {
    bench.starts(bench.first[i]);
    bench.starts(control[i]);
    bench.wait(minute);
  }
  bench.wait(5 * minute);

  CHECK(bench.judge().fresh_failed == 9);
  CHECK(bench.judge().control_failed == 9);
  CHECK(bench.rollout().state == RolloutState::rolling);
}

TEST_CASE("a node that falls silent has failed after five minutes, unless many are silent") {
  Bench bench;
  bench.first_soaks();
  bench.wait(5 * minute);
  bench.is_silent(bench.first[0]);
  bench.wait(4 * minute);
  // A new process of fleet-agent starts on this node, so the node is not silent any more.
  bench.starts(bench.first[0]);
  bench.is_silent(bench.first[1]);
  bench.wait(8 * minute);
  CHECK(bench.judge().fresh_failed == 2);

  // If a fifth of all nodes falls silent at the same time, no node counts as failed, since the
  // cause is then the network or the store.
  for (std::size_t i = 0; i < bench.nodes.size(); i += 5)
    bench.is_silent(bench.nodes[i]);
  bench.wait(20 * minute);
  CHECK(bench.judge().fresh_failed == 2);
  CHECK(bench.judge().control_failed == 0);
}

TEST_CASE("a node that a person removes from the cell has not failed, and hides no failure") {
  Bench bench;
  bench.first_soaks();
  bench.wait(5 * minute);
  for (const std::string& node : bench.last(120))
    bench.is_removed(node);
  bench.is_silent(bench.first[0]);
  bench.wait(8 * minute);
  CHECK(bench.judge().control_failed == 0);
  CHECK(bench.judge().fresh_failed == 1);

  bench.first_reports(UpgradePhase::done);
  bench.wait(minute);
  for (std::size_t i = 1; i < 9; ++i)
    bench.is_removed(bench.first[i]);
  bench.wait(7 * minute);
  CHECK(bench.judge().fresh_failed == 1);
  CHECK(bench.rollout().state == RolloutState::rolling);
}

TEST_CASE("a node whose fleet-agent goes back has failed, and the judge looks every ten seconds") {
  Bench bench;
  bench.first_soaks();
  bench.wait(5 * minute);
  for (std::size_t i = 0; i < 3; ++i)
    bench.put(key_of(KeyKind::node_upgrade, {bench.first[i], "agent"}),
              write_record(Upgrade{.phase = UpgradePhase::failed, .attempt = "r.apply.1"}));
  bench.wait(3 * minute);
  CHECK(bench.judge().fresh_failed == 3);
  CHECK(bench.driver->next_deadline() <= bench.now + judge_look_ms);
}

TEST_CASE("another version of fleet-agent is an upgrade and no failure") {
  Bench bench(600, NodeOrder::random, "web");
  bench.first_soaks("web");
  bench.wait(5 * minute);
  for (const std::string& node : bench.first)
    bench.starts(node, "1.1");
  bench.wait(5 * minute);
  CHECK(bench.judge().fresh_failed == 0);
  bench.starts(bench.first[0], "1.1");
  bench.wait(5 * minute);
  CHECK(bench.judge().fresh_failed == 1);
}

TEST_CASE("a node that restarts within its first minute is not compared") {
  Bench bench;
  bench.first_soaks();
  bench.wait(30 * second);
  for (int i = 0; i < 20; ++i)
    bench.starts(bench.first[static_cast<std::size_t>(i)]);
  bench.wait(10 * minute);
  CHECK(bench.judge().fresh == 51);
  CHECK(bench.judge().fresh_failed == 0);
}

TEST_CASE("a node that has failed before it moved is not compared, whoever drives") {
  Bench bench;
  for (int i = 0; i < 10; ++i)
    bench.wait(10 * second);
  for (int i = 0; i < 5; ++i)
    // Restarts fleet-agent on five nodes that are not compared: they are neither in the first
    // batch, nor in the control group, which keeps the old version.
    bench.starts(bench.last(100)[static_cast<std::size_t>(80 + i)]);
  bench.wait(2 * minute);
  CHECK(bench.judge().failed.size() == 5);
  CHECK(bench.judge().control_failed == 0);

  bench.replace_driver();
  bench.wait(2 * minute);
  CHECK(bench.judge().failed.size() == 5);
}

TEST_CASE("another driver goes on from the findings of the first, and counts no node twice") {
  Bench bench;
  bench.first_soaks();
  bench.wait(5 * minute);
  for (int i = 0; i < 3; ++i)
    bench.starts(bench.first[static_cast<std::size_t>(i)]);
  bench.wait(5 * minute);
  const RolloutJudge before = bench.judge();
  REQUIRE(before.fresh_failed == 3);

  bench.replace_driver();
  bench.wait(5 * minute);
  CHECK(bench.judge().logs == before.logs);
  CHECK(bench.judge().failed == before.failed);
  CHECK(bench.judge().fresh == 51);
  for (int i = 0; i < 3; ++i)
    bench.starts(bench.first[static_cast<std::size_t>(i)]);
  bench.wait(5 * minute);
  CHECK(bench.judge().fresh_failed == 3);
  CHECK(bench.judge().logs == before.logs);
}

TEST_CASE("if nodes come in the order of names, the verdict is shown and stops nothing") {
  Bench bench(600, NodeOrder::name);
  bench.first_soaks();
  bench.wait(5 * minute);
  for (int i = 0; i < 20; ++i)
    bench.starts(bench.first[static_cast<std::size_t>(i)]);
  bench.wait(5 * minute);

  CHECK(bench.judge().verdict == "worse");
  CHECK(bench.judge().words.ends_with("(not randomised)"));
  CHECK(bench.rollout().state == RolloutState::rolling);
}

TEST_CASE("fewer than 200 nodes are not compared, and no findings are written") {
  Bench bench(199);
  bench.first_soaks();
  bench.wait(5 * minute);
  for (int i = 0; i < 20; ++i)
    bench.starts(bench.first[static_cast<std::size_t>(i)]);
  bench.wait(5 * minute);

  CHECK(bench.store.find(key_of(KeyKind::rollout_judge, {"r"})) == nullptr);
  CHECK(bench.rollout().state == RolloutState::rolling);
}

TEST_CASE("a soak in which nothing happens is written ten times") {
  Bench bench;
  bench.first_soaks();
  bench.wait(10 * minute);
  const Revision before = bench.store.revision();
  bench.wait(590 * minute);
  CHECK(bench.store.revision() <= before + 10);
}

TEST_CASE("a batch whose whole soak was seen is confirmed, even by another driver") {
  const bool is_replaced = GENERATE(false, true);
  Bench bench(600, NodeOrder::random, "agent", 20 * minute);
  bench.first_soaks();
  bench.wait(20 * minute);
  if (is_replaced) bench.replace_driver();
  bench.first_reports(UpgradePhase::soaked);
  // A new driver does not know yet which nodes with the old version are compared with the batch. So
  // it must confirm no node yet.
  if (is_replaced) CHECK(bench.ordered(CommandAction::confirm) == 0);
  bench.wait(is_replaced ? 110 * second : 20 * second);

  CHECK(bench.ordered(CommandAction::confirm) == 51);
  CHECK(bench.judge().verdict == "well");
  bench.first_reports(UpgradePhase::done);
  CHECK(bench.rollout().state == RolloutState::rolling);
  CHECK(bench.rollout().batch == 1);
}

// Requirements (tests/judging/rows): S-06
TEST_CASE("a batch whose soak was not seen goes back, and the rollout pauses with the reason") {
  Bench bench(600, NodeOrder::random, "agent", 20 * minute);
  bench.first_soaks();
  bench.wait(10 * minute);
  // If all nodes are unreachable for a while, no node counts as failed.
  for (const std::string& node : bench.nodes)
    bench.is_silent(node);
  bench.wait(8 * minute);
  for (const std::string& node : bench.nodes)
    bench.starts(node);
  bench.wait(3 * minute);
  bench.first_reports(UpgradePhase::soaked);
  bench.wait(19 * minute);
  CHECK(bench.ordered(CommandAction::confirm) == 0);
  CHECK(bench.ordered(CommandAction::rollback) == 0);
  bench.wait(2 * minute);
  CHECK(bench.ordered(CommandAction::rollback) == 51);

  bench.first_reports(UpgradePhase::rolled_back);

  CHECK(bench.rollout().state == RolloutState::paused);
  CHECK(bench.rollout().failed == 0);
  CAPTURE(bench.rollout().reason);
  CHECK(bench.rollout().reason.starts_with("not judged: new: 0 of 51 failed first, control: 0 "));
  CHECK(bench.rollout().reason.find("% of the soak was seen, 80% is needed") != std::string::npos);
}

TEST_CASE("a rollout of fewer than 200 nodes, or in the order of names, waits for no judge") {
  const NodeOrder order = GENERATE(NodeOrder::random, NodeOrder::name);
  Bench bench(order == NodeOrder::name ? 600 : 199, order, "agent", 20 * minute);
  bench.first_soaks();
  bench.first_reports(UpgradePhase::soaked);
  CHECK(bench.ordered(CommandAction::confirm) == 51);
}

// ---- the bake, the time after the last batch in which a rollout is still judged

// Writes the records of a rollout at the beginning of its bake, the time after the last batch in
// which it is still judged. All nodes have moved, and the judge's counts of nodes and failures are
// final. Then starts the driver.
void begins_to_bake(Bench& bench, Ms bake) {
  for (const std::string& node : bench.nodes) {
    bench.put(key_of(KeyKind::rollout_node, {"r", node}),
              write_record(RolloutNode{.stage = NodeStage::confirmed}));
  }
  bench.put(key_of(KeyKind::rollout_judge, {"r"}),
            write_record(
                RolloutJudge{.control = 60, .control_failed = 1, .control_ms = 60 * 600 * minute}));
  const std::string key = key_of(KeyKind::rollout, {"r"});
  Rollout rollout = read_record<Rollout>(bench.store.find(key)->value).value();
  rollout.state = RolloutState::baking;
  rollout.batch = rollout.batches;
  rollout.terms.bake_ms = bake;
  bench.put(key, write_record(rollout));
  bench.replace_driver();
}

Rollout rollout_of(Bench& bench) {
  return read_record<Rollout>(bench.store.find(key_of(KeyKind::rollout, {"r"}))->value).value();
}

RolloutJudge judge_of(Bench& bench) {
  return read_record<RolloutJudge>(bench.store.find(key_of(KeyKind::rollout_judge, {"r"}))->value)
      .value();
}

// Requirements (tests/judging/rows): S-12
TEST_CASE("a version that fails more often during the bake than the control did is aborted") {
  Bench bench;
  begins_to_bake(bench, 600 * minute);
  bench.wait(5 * minute);
  for (int i = 0; i < 20; ++i)
    bench.starts(bench.nodes[static_cast<std::size_t>(i)]);
  bench.wait(5 * minute);

  CHECK(is_over(rollout_of(bench).state));
  CHECK(rollout_of(bench).reason.starts_with("judge: bake: 20 failed first, "));
  CHECK(judge_of(bench).verdict == "worse");
}

TEST_CASE("a good version passes its bake, and another driver goes on with what was counted") {
  Bench bench;
  begins_to_bake(bench, 60 * minute);
  bench.wait(5 * minute);
  bench.starts(bench.nodes[0]);
  bench.wait(25 * minute);
  CHECK(judge_of(bench).bake_failed == 1);
  const Ms seen = judge_of(bench).bake_ms;
  CHECK(seen > 600 * 15 * minute);

  bench.replace_driver();
  bench.wait(20 * minute);
  CHECK(judge_of(bench).bake_failed == 1);
  CHECK(judge_of(bench).bake_ms > seen + 600 * 10 * minute);
  bench.wait(20 * minute);
  CHECK(rollout_of(bench).state == RolloutState::completed);
  CHECK(judge_of(bench).words.starts_with("bake: 1 failed first, "));
}

}  // namespace
}  // namespace judge_watch_test
