// Tests which report counts as a node's first failure, how the judge decides about a batch (well,
// worse, or not known), and the texts of these decisions.
#include "fleet/model/judge_verdict.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace judge_verdict_test {
namespace {

using namespace fleet;

constexpr Ms minute = 60'000;

FailureReport report(std::int64_t sequence, std::int64_t failures, const std::string& life = "a") {
  return {.boot = "b", .instance = life, .sequence = sequence, .failures = failures};
}

// The judge's counts for 51 nodes with the new version and 500 control nodes. All of these are
// compared from the first minute on.
struct Bench {
  Cohorts cohorts{1};
  Ms now = 0;

  explicit Bench(int fresh = 51, int control = 500) {
    for (int i = 0; i < fresh; ++i)
      cohorts.enter(name("n", i), Cohort::fresh, 0, {}, false);
    for (int i = 0; i < control; ++i)
      cohorts.enter(name("c", i), Cohort::control, 0, {}, false);
  }

  static std::string name(const std::string& prefix, int i) { return prefix + std::to_string(i); }

  void look_after(Ms time) {
    now += time;
    cohorts.look(now);
  }
  CohortCount fresh() { return cohorts.count(Cohort::fresh); }
  CohortCount control() { return cohorts.count(Cohort::control); }
  Judgement judgement(const BatchSeen& seen, std::int64_t nodes = 10'000) {
    return judge({fresh(), control(), cohorts.evidence().log()}, seen, {.nodes = nodes});
  }
};

const BatchSeen all_seen{.is_soak_over = true, .seen_ms = 100, .soak_ms = 100};

TEST_CASE("a look uses what happened a minute and a half before, in both cohorts") {
  Bench bench;
  bench.look_after(10 * minute);
  bench.cohorts.report("n0", bench.now, report(1, 1));
  bench.cohorts.report("c0", bench.now, report(1, 1));

  bench.look_after(judge_delay_ms - 1);
  CHECK(bench.fresh().failed == 0);
  CHECK(bench.control().failed == 0);
  bench.look_after(1);

  CHECK(bench.fresh().failed == 1);
  CHECK(bench.control().failed == 1);
  CHECK(bench.fresh().at_risk == 50);
  CHECK(bench.fresh().node_ms == 51 * 10 * minute);
}

TEST_CASE("a node that fails in a loop, or reports twice, counts as one failure") {
  Bench bench;
  for (const auto& [sequence, failures] : {std::pair{1, 1}, {1, 1}, {2, 40}, {3, 400}})
    bench.cohorts.report("n0", minute, report(sequence, failures));
  bench.cohorts.fail("n0", 2 * minute);
  bench.look_after(10 * minute);

  CHECK(bench.fresh().failed == 1);
  CHECK(bench.fresh().at_risk == 50);
  CHECK(bench.cohorts.has_failed("n0"));
}

TEST_CASE(
    "an older report that comes later changes nothing, and a report of more failures counts") {
  Bench bench;
  bench.cohorts.report("n0", minute, report(5, 0));
  bench.cohorts.report("n0", minute, report(4, 9));
  bench.look_after(10 * minute);
  CHECK(bench.fresh().failed == 0);

  bench.cohorts.report("n0", bench.now, report(6, 1));
  bench.look_after(10 * minute);
  CHECK(bench.fresh().failed == 1);
}

TEST_CASE(
    "failures that were known when the node entered are not new, and a counter may be reset") {
  Cohorts cohorts{1};
  cohorts.enter("n", Cohort::control, 0, report(9, 7), false);
  cohorts.report("n", minute, report(10, 7));
  cohorts.report("n", minute, report(1, 0, "another life"));
  cohorts.look(10 * minute);
  CHECK(cohorts.count(Cohort::control).failed == 0);

  cohorts.report("n", 10 * minute, report(2, 1, "another life"));
  cohorts.look(20 * minute);
  CHECK(cohorts.count(Cohort::control).failed == 1);
}

TEST_CASE("a failure that becomes known late is counted then, and not at its own time") {
  Bench bench;
  bench.look_after(10 * minute);

  bench.cohorts.report("n0", minute, report(1, 1));
  bench.look_after(0);

  CHECK(bench.fresh().failed == 1);
  CHECK(bench.fresh().node_ms == 51 * (10 * minute - judge_delay_ms));
}

TEST_CASE("a node that failed before it moved is not compared, and leaving is no failure") {
  Bench bench(2, 3);
  bench.cohorts.report("c0", minute, report(1, 1));
  bench.cohorts.enter("c0", Cohort::fresh, 2 * minute, report(1, 1), false);
  bench.cohorts.enter("late", Cohort::fresh, 2 * minute, {}, true);
  bench.cohorts.leave("n0", 3 * minute);
  bench.cohorts.report("n0", 4 * minute, report(1, 1));
  bench.look_after(10 * minute);

  CHECK(bench.fresh().nodes == 2);
  CHECK(bench.fresh().at_risk == 1);
  CHECK(bench.fresh().failed == 0);
  CHECK(bench.control().failed == 1);
}

TEST_CASE("a control node that moves is at risk among the new nodes from then on") {
  Bench bench(1, 2);
  bench.cohorts.enter("c0", Cohort::fresh, 5 * minute, {}, false);
  bench.look_after(10 * minute + judge_delay_ms);

  CHECK(bench.control().at_risk == 1);
  CHECK(bench.fresh().at_risk == 2);
  CHECK(bench.fresh().node_ms == 15 * minute);
  CHECK(bench.control().node_ms == 15 * minute);
}

TEST_CASE("another driver goes on from the evidence and the number of failed nodes") {
  Bench first;
  for (int i = 0; i < 2; ++i)
    first.cohorts.fail(Bench::name("n", i), minute);
  first.look_after(10 * minute);

  Cohorts second{1, first.cohorts.evidence(), 2, 0};
  for (int i = 0; i < 51; ++i)
    second.enter(Bench::name("n", i), Cohort::fresh, 0, {}, i < 2);
  for (int i = 0; i < 500; ++i)
    second.enter(Bench::name("c", i), Cohort::control, 0, {}, false);
  second.fail("n2", minute);
  second.look(10 * minute);

  first.cohorts.fail("n2", first.now);
  first.look_after(10 * minute);
  CHECK(second.evidence().log() == first.cohorts.evidence().log());
  CHECK(second.count(Cohort::fresh).nodes == 51);
  CHECK(second.count(Cohort::fresh).failed == 3);
}

TEST_CASE("reports of nodes that do not take part are ignored") {
  Bench bench(1, 1);
  bench.cohorts.report("other", minute, report(1, 1));
  bench.cohorts.fail("other", minute);
  bench.cohorts.leave("other", minute);
  bench.look_after(10 * minute);
  CHECK(bench.fresh().failed + bench.control().failed == 0);
}

TEST_CASE("three first failures of 51 new nodes and none of 500 are worse, in these words") {
  Bench bench;
  for (int i = 0; i < 3; ++i)
    bench.cohorts.report(Bench::name("n", i), minute, report(1, 1));
  bench.look_after(5 * minute);

  const Judgement said = bench.judgement({});

  CHECK(said.verdict == Verdict::worse);
  CHECK(said.is_waited_for);
  CHECK(said.words == "new: 3 of 51 failed first, control: 0 of 500: worse, e = 325 > 100");
}

TEST_CASE("a batch is well when its soak is over and seen, and not known before") {
  Bench bench;
  bench.cohorts.report("c7", minute, report(1, 1));
  bench.look_after(10 * minute);

  CHECK(bench.judgement(all_seen).verdict == Verdict::well);
  CHECK(bench.judgement(all_seen).words ==
        "new: 0 of 51 failed first, control: 1 of 500: well, e = 0.57");
  const Judgement early = bench.judgement({.missing = {"n1", "n2"}, .seen_ms = 79, .soak_ms = 100});
  CHECK(early.verdict == Verdict::not_known);
  CHECK(early.words ==
        "new: 0 of 51 failed first, control: 1 of 500: not known, e = 0.57: the soak is not over; "
        "no report of the end from n1, n2; 79% of the soak was seen, 80% is needed");
}

TEST_CASE("a batch is not well if any one condition is missing") {
  Bench bench;
  bench.look_after(10 * minute);
  const auto verdict = [&bench](auto change) {
    BatchSeen seen = all_seen;
    change(seen);
    return bench.judgement(seen).verdict;
  };
  CHECK(verdict([](BatchSeen&) {}) == Verdict::well);
  CHECK(verdict([](BatchSeen& seen) { seen.is_soak_over = false; }) == Verdict::not_known);
  CHECK(verdict([](BatchSeen& seen) { seen.missing = {"n1"}; }) == Verdict::not_known);
  CHECK(verdict([](BatchSeen& seen) { seen.seen_ms = 79; }) == Verdict::not_known);
  CHECK(verdict([](BatchSeen& seen) { seen.seen_ms = 80; }) == Verdict::well);
}

TEST_CASE("with few nodes, or no control, the verdict is shown, and no batch waits for it") {
  Bench few(3, 0);
  few.cohorts.report("n0", minute, report(1, 1));
  few.look_after(10 * minute);
  const Judgement said = few.judgement({}, 3);
  CHECK_FALSE(said.is_waited_for);
  CHECK(said.verdict == Verdict::not_known);
  CHECK(said.words == "new: 1 of 3 failed first, control: 0 of 0: too few to compare");

  Bench alone(200, 19);
  alone.cohorts.report("n0", 1'440 * minute, report(1, 1));
  alone.look_after(1'440 * minute + judge_delay_ms);
  const Judgement shown = alone.judgement(all_seen);
  CHECK_FALSE(shown.is_waited_for);
  CHECK(shown.words ==
        "new: 1 of 200 failed first, control: 0 of 19: no control; failures a node and day: new "
        "0.005, control 0");
}

TEST_CASE("evidence stays when the control itself has moved") {
  Bench bench;
  for (int i = 0; i < 3; ++i)
    bench.cohorts.report(Bench::name("n", i), minute, report(1, 1));
  for (int i = 0; i < 500; ++i)
    bench.cohorts.leave(Bench::name("c", i), 2 * minute);
  bench.look_after(10 * minute);

  CHECK(bench.judgement(all_seen).verdict == Verdict::worse);
}

TEST_CASE("in the order of names, the words say that nodes were not drawn at random") {
  const Judgement said = judge({.fresh = {.nodes = 9, .failed = 9},
                                .control = {.nodes = 500, .at_risk = 500},
                                .log_evidence = 1'000},
                               all_seen, {.nodes = 1'000, .order = NodeOrder::name});
  CHECK(said.words ==
        "new: 9 of 9 failed first, control: 0 of 500: worse, e > 1000000 > 100 (not randomised)");
}

TEST_CASE("a bake takes its part of the rollout's own alpha, and its words have the limit") {
  RolloutTerms terms{.alpha_millionths = 50'000};
  CHECK(alpha_of(terms) == Approx(0.05));
  CHECK(alpha_of({}) == Approx(0.01));
  terms.bake_ms = 1;
  CHECK(alpha_of(terms) == Approx(0.049));

  const BakeCounts counts{
      .control_failed = 10, .control_ms = 10 * minute, .failed = 70, .node_ms = 10 * minute};
  const Judgement said = judge_bake(counts, 0, {.alpha = alpha_of(terms)});
  CAPTURE(said.words);
  CHECK(said.verdict == Verdict::worse);
  CHECK(said.words.ends_with(" > 20"));
  CHECK(judge_bake(counts, 0, {.alpha = alpha_of(terms), .tolerate = 2}).verdict == Verdict::well);
}

TEST_CASE("the control is a tenth of the nodes, 20 to 500; a small rollout has none") {
  CHECK(control_size(199) == 0);
  CHECK(control_size(200) == 20);
  CHECK(control_size(3'000) == 300);
  CHECK(control_size(10'000) == 500);
}

}  // namespace
}  // namespace judge_verdict_test
