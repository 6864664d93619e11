// Tests how the judge of a rollout uses the health that nodes report: failures of the component,
// and the figures (measures) that it gives about itself. The judge compares nodes with the new
// version and nodes with the old one.
#include <catch2/catch.hpp>
#include <cmath>

#include "fleet/model/records/record_rules.h"
#include "fleet/model/rollouts/judge_verdict.h"
#include "tests/together/fleet/judge_bench.h"

namespace judge_health_test {
namespace {

using namespace fleet;
using fleet_test::minute;
using fleet_test::second;
using Bench = fleet_test::JudgeBench;

constexpr Ms soak = 20 * minute;

Measure errors(const std::string& change) {
  return {"errors", MeasureType::counter, MeasureWorse::up, "100", change};
}
Measure latency(const std::string& change) {
  return {"latency", MeasureType::gauge, MeasureWorse::up, "10", change};
}

NodeHealth fresh_health(const NodeHealth& more = {}) {
  NodeHealth health = more;
  health.run = "r.apply.1";
  health.instance = "i";
  return health;
}

// Writes the first health reports of two groups of nodes: the first batch, which has the new
// version, and the control, which has the old one.
void begins(Bench& bench) {
  for (const std::string& node : bench.asked_controls())
    bench.reports(node, {.run = bench.control_run_of(node), .instance = "i"});
  for (const std::string& node : bench.first)
    bench.reports(node, fresh_health());
}

using Gives = std::function<std::vector<Measure>(std::size_t index, bool is_fresh)>;

// Writes the last health reports of both groups, the first batch and the control, at the end of
// their soak.
void ends(Bench& bench, const Gives& gives) {
  std::size_t index = 0;
  for (const std::string& node : bench.asked_controls())
    bench.reports(node, {.run = bench.control_run_of(node),
                         .instance = "i",
                         .sequence = 2,
                         .over = true,
                         .measures = gives(index++, false)});
  index = 0;
  for (const std::string& node : bench.first) {
    bench.reports(node,
                  fresh_health({.sequence = 2, .over = true, .measures = gives(index++, true)}));
  }
}

struct Cell : Bench {
  Cell() : Bench(600, NodeOrder::random, "web", soak) {
    first_soaks("web");
    begins(*this);
    wait(5 * minute);
  }
  std::int64_t confirmed() {
    return std::count_if(first.begin(), first.end(), [this](const std::string& node) {
      return command(node, "web").id.starts_with("r.confirm");
    });
  }
  void soaks_with(const Gives& gives) {
    wait(soak - 5 * minute);
    ends(*this, gives);
    first_reports(UpgradePhase::soaked, "web");
    wait(30 * second);
  }
};

// Requirements (tests/judging/rows): S-13
TEST_CASE("the control is asked before the batch begins, and all nodes are told to report") {
  Bench bench(600, NodeOrder::random, "web", soak);
  CHECK(bench.asked_controls().empty());
  bench.first_soaks("web");
  const auto asked = bench.asked_controls();
  CHECK(asked.size() == 60);
  auto last = bench.last(60);
  std::sort(last.begin(), last.end());
  CHECK(asked == last);
  CHECK(bench.control_run_of(asked[0]) == "r.control.0");
  CHECK(bench.command(bench.first[0], "web").judged);
  // The question ends with the commands of the batch.
  const auto lease_of = [&bench](KeyKind kind, const std::string& node) {
    return bench.store.find(key_of(kind, {node, "web"}))->lease;
  };
  CHECK(lease_of(KeyKind::node_control, asked[0]) ==
        lease_of(KeyKind::node_command, bench.first[0]));
}

// Requirements (tests/judging/rows): S-13
TEST_CASE("a component that ends by itself on new nodes aborts the rollout of that component") {
  Cell cell;
  const auto control = cell.asked_controls();
  for (std::size_t i = 0; i < 10; ++i) {
    NodeHealth health = fresh_health({.sequence = 2});
    if (i % 3 == 0) health.ends = 5;  // five exits on one node are one failure
    if (i % 3 == 1) health.unhealthy = 1;
    if (i % 3 == 2) health.fallbacks = 1;
    cell.reports(cell.first[i], health);
  }
  cell.wait(5 * minute);
  CHECK(cell.judge().fresh_failed == 10);
  CHECK(cell.judge().verdict == "worse");
  CHECK(cell.rollout().state == RolloutState::aborting);
}

TEST_CASE("when the component ends as often on the control, nothing follows") {
  Cell cell;
  const auto control = cell.asked_controls();
  for (std::size_t i = 0; i < 10; ++i) {
    cell.reports(cell.first[i], fresh_health({.sequence = 2, .ends = 1}));
    cell.reports(control[i], {.run = cell.control_run_of(control[i]), .sequence = 2, .ends = 1});
    cell.wait(minute);
  }
  cell.wait(5 * minute);
  CHECK(cell.judge().fresh_failed == 10);
  CHECK(cell.judge().control_failed == 10);
  CHECK(cell.rollout().state == RolloutState::rolling);
}

TEST_CASE("a node that goes back counts for a component whose nodes report, and not otherwise") {
  const bool report = GENERATE(false, true);
  Bench bench(600, NodeOrder::random, "web", soak);
  bench.first_soaks("web");
  if (report) begins(bench);
  bench.wait(5 * minute);
  for (std::size_t i = 0; i < 9; ++i) {
    bench.put(key_of(KeyKind::node_upgrade, {bench.first[i], "web"}),
              write_record(Upgrade{.phase = UpgradePhase::failed, .attempt = "r.apply.1"}));
  }
  bench.settle();
  bench.wait(5 * minute);
  CHECK(bench.judge().fresh_failed == (report ? 9 : 0));
  CHECK((bench.rollout().state == RolloutState::aborting) == report);
}

TEST_CASE("nodes that say that they had failed before are not compared") {
  Bench bench(600, NodeOrder::random, "web", soak);
  bench.first_soaks("web");
  begins(bench);
  const auto control = bench.asked_controls();
  for (std::size_t i = 0; i < 10; ++i) {
    bench.reports(bench.first[i], fresh_health({.sequence = 2, .before = 1, .ends = 1}));
    bench.reports(control[i], {.run = bench.control_run_of(control[i]), .before = 1, .ends = 1});
  }
  bench.wait(10 * minute);
  CHECK(bench.judge().fresh_failed == 0);
  CHECK(bench.judge().control_failed == 0);
  CHECK(bench.judge().failed.size() == 20);
  CHECK(bench.rollout().state == RolloutState::rolling);
}

// Requirements (tests/judging/rows): S-13
TEST_CASE("a batch whose measures are as good as the control's is confirmed, and says so") {
  Cell cell;
  cell.soaks_with([](std::size_t index, bool) {
    return std::vector{errors(index % 7 == 0 ? "1" : "0"), latency(std::to_string(index % 20)),
                       Measure{"shown", MeasureType::gauge, MeasureWorse::unknown, "3", "3"}};
  });
  CHECK(cell.confirmed() == 51);
  const RolloutJudge judge = cell.judge();
  REQUIRE(judge.measures.size() == 2);
  CHECK(judge.measures[0].name == "errors");
  CHECK(judge.measures[0].judged == 1);
  CHECK(judge.measures[0].fresh == 51);
  CHECK(judge.measures[0].control == 60);
  CHECK(judge.measures[1].words.find("worse than the median of 60 of the control: well, e = ") !=
        std::string::npos);
}

TEST_CASE("a leak, and errors that should not be, abort the rollout although every node is well") {
  const bool is_gauge = GENERATE(false, true);
  Cell cell;
  cell.soaks_with([is_gauge](std::size_t index, bool is_fresh) {
    const bool errs = is_fresh && !is_gauge && index % 3 == 0;
    const std::size_t leak = is_fresh && is_gauge ? 12 : 0;
    return std::vector{errors(errs ? "2" : "0"), latency(std::to_string(index % 20 + leak))};
  });
  CHECK(cell.confirmed() == 0);
  CHECK(cell.rollout().state == RolloutState::aborting);
  CAPTURE(cell.rollout().reason);
  CHECK(cell.rollout().reason.find(is_gauge ? "measure latency: " : "measure errors: ") !=
        std::string::npos);
}

// Requirements (tests/judging/rows): S-06
TEST_CASE("a version that gives a measure no more is not known in it: the batch goes back") {
  Cell cell;
  cell.soaks_with([](std::size_t index, bool is_fresh) {
    std::vector<Measure> all{errors("0")};
    if (!is_fresh || index % 2 == 0) all.push_back(latency("1"));
    return all;
  });
  CHECK(cell.confirmed() == 0);
  cell.wait(soak);
  cell.first_reports(UpgradePhase::rolled_back, "web");
  CHECK(cell.rollout().state == RolloutState::paused);
  CAPTURE(cell.rollout().reason);
  CHECK(cell.rollout().reason.find("measure latency: 26 of 51 nodes of the batch give it") !=
        std::string::npos);
}

TEST_CASE("reasons that are longer than a record's text are written once, and cut") {
  Cell cell;
  cell.soaks_with([](std::size_t, bool is_fresh) {
    std::vector<Measure> all{errors("0")};
    for (std::size_t i = 0; !is_fresh && all.size() < measures_max; ++i) {
      all.push_back(latency("1"));
      all.back().name = std::string(30, 'x') + std::to_string(i);
    }
    return all;
  });

  CHECK(cell.judge().words.ends_with("..."));
  CHECK(cell.judge().verdict == "not known");
}

TEST_CASE("a measure has the rollout's own alpha, and first failures of a counter its tolerate") {
  std::vector<JudgedMeasure> all{
      {.name = "m", .log = std::llround(std::log(50) * 1e6), .judged = 1}};
  CHECK(tell_measures(all, 0.05).ends_with("worse, e = 50 > 40"));
  CHECK(tell_measures(all, 0.01).empty());
  CHECK(all[0].words.ends_with("well, e = 50"));

  std::vector<MeasuredChange> changes;
  for (int i = 0; i < 100; ++i)
    changes.push_back({i % 2 == 0, i % 10 == 0 ? 1.0 : 0.0});
  const auto log = [&changes](MeasureType type, double tolerate) {
    return log_evidence_of(type, MeasureWorse::up, changes, tolerate);
  };
  CHECK(log(MeasureType::counter, 2) < log(MeasureType::counter, 1));
  CHECK(log(MeasureType::gauge, 2) == log(MeasureType::gauge, 1));
}

TEST_CASE("a measure that should not fall is worse if it falls, and not if it rises") {
  const auto log = [](MeasureWorse worse, double change) {
    std::vector<MeasuredChange> changes;
    for (int i = 0; i < 100; ++i)
      changes.push_back({i % 2 == 0, (i % 2 == 0 ? change : 0) + i % 10});
    return log_evidence_of(MeasureType::gauge, worse, changes, 1);
  };
  CHECK(log(MeasureWorse::down, -20) > std::log(1'000));
  CHECK(log(MeasureWorse::down, 20) < 0);
  CHECK(log(MeasureWorse::up, 20) > std::log(1'000));
  CHECK(log(MeasureWorse::up, -20) < 0);
}

TEST_CASE("a measure that only some nodes of the control give is not waited for") {
  Cell cell;
  cell.soaks_with([](std::size_t index, bool is_fresh) {
    return index % 2 == 0 && !is_fresh ? std::vector{errors("0")} : std::vector<Measure>{};
  });
  CHECK(cell.confirmed() == 51);
  CHECK(cell.judge().measures.empty());
}

TEST_CASE("the last reports are waited for, but not longer than a minute") {
  Cell cell;
  cell.wait(soak - 5 * minute);
  const auto gives = [](std::size_t, bool) { return std::vector{errors("0")}; };
  ends(cell, gives);
  // This node still shows the report from the beginning of its soak, so its last report is missing.
  // The driver must wait for the last report, but at most a minute.
  cell.reports(cell.first[0], fresh_health());
  cell.first_reports(UpgradePhase::soaked, "web");
  cell.wait(30 * second);
  CHECK(cell.confirmed() == 0);
  cell.wait(minute);
  CHECK(cell.confirmed() == 51);
}

TEST_CASE("a node of the control that has reported and is silent stands for no other report") {
  Cell cell;
  const auto gives = [](std::size_t, bool) { return std::vector{errors("0")}; };
  ends(cell, gives);
  const auto control = cell.asked_controls();
  for (std::size_t i = 0; i < 3; ++i)
    cell.is_silent(control[i]);
  cell.wait(soak - 5 * minute);
  for (std::size_t i = 0; i < 3; ++i)
    // Three nodes with the new version still show their first health reports, so their last reports
    // are missing. The driver must wait for the last reports, but at most a minute.
    cell.reports(cell.first[i], fresh_health());
  cell.first_reports(UpgradePhase::soaked, "web");
  cell.wait(30 * second);
  CHECK(cell.confirmed() == 0);
  cell.wait(minute);
  CHECK(cell.confirmed() == 51);
}

TEST_CASE("another driver goes on with the measures that were chosen and judged") {
  Cell cell;
  cell.soaks_with([](std::size_t, bool) { return std::vector{errors("0")}; });
  const RolloutJudge before = cell.judge();
  REQUIRE(before.measures.size() == 1);
  cell.replace_driver();
  cell.wait(5 * minute);
  CHECK(cell.judge().measures == before.measures);
}

}  // namespace
}  // namespace judge_health_test
