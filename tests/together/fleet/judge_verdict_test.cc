// Tests the judge of rollouts: which failures of a node it uses, how it decides about a batch
// (well, worse, or not known), the texts of its decisions, and its arithmetic.
#include "fleet/model/rollouts/judge_verdict.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "fleet/model/rollouts/judge_evidence.h"

namespace judge_verdict_test {

namespace {

using namespace fleet;

constexpr Ms minute = 60'000;

// The judge's counts for 51 nodes with the new version and 500 control nodes, which have the old
// version. The judge compares all of these nodes from the first minute on.
struct Bench {
  Cohorts cohorts{1};
  Ms now = 0;

  explicit Bench(int fresh = 51, int control = 500) {
    for (int i = 0; i < fresh; ++i)
      cohorts.enter(name("n", i), Cohort::fresh, 0, false);
    for (int i = 0; i < control; ++i)
      cohorts.enter(name("c", i), Cohort::control, 0, false);
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
  bench.cohorts.fail("n0", bench.now);
  bench.cohorts.fail("c0", bench.now);

  bench.look_after(judge_delay_ms - 1);
  CHECK(bench.fresh().failed == 0);
  CHECK(bench.control().failed == 0);
  bench.look_after(1);

  CHECK(bench.fresh().failed == 1);
  CHECK(bench.control().failed == 1);
  CHECK(bench.fresh().at_risk == 50);
  CHECK(bench.fresh().node_ms == 51 * 10 * minute);
}

TEST_CASE("a node that fails in a loop counts as one failure") {
  Bench bench;
  for (int i = 0; i < 3; ++i)
    bench.cohorts.fail("n0", minute + i);
  bench.look_after(10 * minute);

  CHECK(bench.fresh().failed == 1);
  CHECK(bench.fresh().at_risk == 50);
}

TEST_CASE("a failure that becomes known late is counted then, and not at its own time") {
  Bench bench;
  bench.look_after(10 * minute);

  bench.cohorts.fail("n0", minute);
  bench.look_after(0);

  CHECK(bench.fresh().failed == 1);
  CHECK(bench.fresh().node_ms == 51 * (10 * minute - judge_delay_ms));
}

TEST_CASE("a node that failed before it moved is not compared, and leaving is no failure") {
  Bench bench(2, 3);
  bench.cohorts.fail("c0", minute);
  bench.cohorts.enter("c0", Cohort::fresh, 2 * minute, false);
  bench.cohorts.enter("late", Cohort::fresh, 2 * minute, true);
  bench.cohorts.leave("n0", 3 * minute);
  bench.cohorts.fail("n0", 4 * minute);
  bench.look_after(10 * minute);

  CHECK(bench.fresh().nodes == 2);
  CHECK(bench.fresh().at_risk == 1);
  CHECK(bench.fresh().failed == 0);
  CHECK(bench.control().failed == 1);
}

TEST_CASE("a control node that moves is at risk among the new nodes from then on") {
  Bench bench(1, 2);
  bench.cohorts.enter("c0", Cohort::fresh, 5 * minute, false);
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
    second.enter(Bench::name("n", i), Cohort::fresh, 0, i < 2);
  for (int i = 0; i < 500; ++i)
    second.enter(Bench::name("c", i), Cohort::control, 0, false);
  second.fail("n2", minute);
  second.look(10 * minute);

  first.cohorts.fail("n2", first.now);
  first.look_after(10 * minute);
  CHECK(second.evidence().log() == first.cohorts.evidence().log());
  CHECK(second.count(Cohort::fresh).nodes == 51);
  CHECK(second.count(Cohort::fresh).failed == 3);
}

TEST_CASE("failures of nodes that do not take part are ignored") {
  Bench bench(1, 1);
  bench.cohorts.fail("other", minute);
  bench.cohorts.leave("other", minute);
  bench.look_after(10 * minute);
  CHECK(bench.fresh().failed + bench.control().failed == 0);
}

TEST_CASE("three first failures of 51 new nodes and none of 500 are worse, in these words") {
  Bench bench;
  for (int i = 0; i < 3; ++i)
    bench.cohorts.fail(Bench::name("n", i), minute);
  bench.look_after(5 * minute);

  const Judgement said = bench.judgement({});

  CHECK(said.verdict == Verdict::worse);
  CHECK(said.is_waited_for);
  CHECK(said.words == "new: 3 of 51 failed first, control: 0 of 500: worse, e = 325 > 100");
}

TEST_CASE("a batch is well when its soak is over and seen, and not known before") {
  Bench bench;
  bench.cohorts.fail("c7", minute);
  bench.look_after(10 * minute);

  CHECK(bench.judgement(all_seen).verdict == Verdict::well);
  CHECK(bench.judgement(all_seen).words ==
        "new: 0 of 51 failed first, control: 1 of 500: well, e = 0.57");
  const Judgement early = bench.judgement({.seen_ms = 79, .soak_ms = 100});
  CHECK(early.verdict == Verdict::not_known);
  CHECK(early.words ==
        "new: 0 of 51 failed first, control: 1 of 500: not known, e = 0.57: the soak is not over; "
        "79% of the soak was seen, 80% is needed");
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
  CHECK(verdict([](BatchSeen& seen) { seen.seen_ms = 79; }) == Verdict::not_known);
  CHECK(verdict([](BatchSeen& seen) { seen.seen_ms = 80; }) == Verdict::well);
}

TEST_CASE("with few nodes, or no control, the verdict is shown, and no batch waits for it") {
  Bench few(3, 0);
  few.cohorts.fail("n0", minute);
  few.look_after(10 * minute);
  const Judgement said = few.judgement({}, 3);
  CHECK_FALSE(said.is_waited_for);
  CHECK(said.verdict == Verdict::not_known);
  CHECK(said.words == "new: 1 of 3 failed first, control: 0 of 0: too few to compare");

  Bench alone(200, 19);
  alone.cohorts.fail("n0", 1'440 * minute);
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
    bench.cohorts.fail(Bench::name("n", i), minute);
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

// ---- arithmetic: an independent program has computed the expected numbers with exact fractions

struct Failure {
  bool is_new = false;
  AtRisk at_risk = {};
};

// Returns `fresh` failures of nodes with the new version, followed by `control` failures of control
// nodes. `at_risk` has the numbers of compared nodes of both groups at the first failure. Each
// failure lowers its group's number by one.
std::vector<Failure> failures(int fresh, int control, AtRisk at_risk) {
  std::vector<Failure> all;
  for (int i = 0; i < fresh; ++i) {
    all.push_back({true, at_risk});
    --at_risk.fresh;
  }
  for (int i = 0; i < control; ++i) {
    all.push_back({false, at_risk});
    --at_risk.control;
  }
  return all;
}

Evidence evidence(const std::vector<Failure>& all, double tolerate = 1) {
  Evidence found;
  for (const Failure& one : all)
    found.add(one.is_new, chance_of_new(one.at_risk, tolerate));
  return found;
}

// Returns the evidence that these failures give against the new version: the number itself, and not
// its logarithm, which log() returns.
double e(const std::vector<Failure>& all, double tolerate = 1) {
  return std::exp(evidence(all, tolerate).log());
}

// Returns 60 failures: one failure of a control node, then two failures of nodes with the new
// version, and so on. At the beginning, the judge compares 400 nodes of each kind.
std::vector<Failure> twice_as_many() {
  std::vector<Failure> all;
  AtRisk at_risk{400, 400};
  for (int i = 0; i < 60; ++i) {
    const bool is_new = i % 3 != 0;
    all.push_back({is_new, at_risk});
    --(is_new ? at_risk.fresh : at_risk.control);
  }
  return all;
}

TEST_CASE("evidence is 1 while no node has failed, and if there is nothing to compare with") {
  CHECK(e({}) == 1);
  CHECK(e(failures(5, 0, {5, 0})) == 1);
  CHECK(e(failures(0, 5, {0, 5})) == 1);
  CHECK(chance_of_new({0, 0}, 1) == 0);
}

TEST_CASE("evidence agrees with a computation in fractions") {
  CHECK(e(failures(1, 0, {1, 500})) == Approx(29.54902419282424));
  CHECK(e(failures(2, 0, {51, 500})) == Approx(37.597808272270676));
  CHECK(e(failures(3, 0, {51, 500})) == Approx(324.9115539569616));
  CHECK(e(failures(0, 5, {50, 500})) == Approx(0.2701371796317237));
  CHECK(evidence(twice_as_many()).log() == Approx(2.2138423608028006));
}

TEST_CASE("a tolerated ratio asks for more evidence") {
  CHECK(e(failures(3, 0, {51, 500}), 2) == Approx(73.08705074065474));
  CHECK(chance_of_new({100, 200}, 2) == Approx(0.5));
}

TEST_CASE("the evidence stays finite and exact for cohorts that differ in size a thousandfold") {
  // If the judge compares only one control node, the evidence stays small even if the new version
  // fails on 400 of 400 nodes.
  CHECK(evidence(failures(400, 0, {400, 1})).log() == Approx(5.176145006639672));
  CHECK(e(failures(10, 1, {10'000, 10})) == Approx(0.2367570726078052));
  const Evidence huge = evidence(failures(10'000, 0, {10'000, 500}));
  CHECK(std::isfinite(huge.log()));
  CHECK(huge.log() > 100);
  const Evidence good = evidence(failures(0, 499, {10'000, 500}));
  CHECK(std::isfinite(good.log()));
  CHECK(good.log() < 0);
}

TEST_CASE("a single node, even one that lies, never stops a rollout by itself") {
  for (const std::int64_t fresh : {1, 10, 50, 1'000}) {
    for (const std::int64_t control : {20, 500}) {
      CAPTURE(fresh, control);
      CHECK(evidence(failures(1, 0, {fresh, control})).log() < log_limit(0.01, 1));
    }
  }
}

TEST_CASE("at the tolerated ratio a step does not change the mean evidence; below, it lowers it") {
  // A failure multiplies the evidence by one of two factors. The factor depends on whether a node
  // with the new version or a control node has failed. If nodes with the new version fail exactly
  // as often as is tolerated, the average factor is 1.
  for (const double chance : {1e-6, 0.01, 0.5, 0.99}) {
    CAPTURE(chance);
    Evidence is_new;
    is_new.add(true, chance);
    Evidence is_not;
    is_not.add(false, chance);
    const double mean = chance * std::exp(is_new.log()) + (1 - chance) * std::exp(is_not.log());
    CHECK(mean == Approx(1));
    // If nodes with the new version fail less often than is tolerated, the average factor by which
    // a failure multiplies the evidence is below 1.
    const double less = chance / 2;
    CHECK(less * std::exp(is_new.log()) + (1 - less) * std::exp(is_not.log()) < 1);
  }
}

TEST_CASE("chances of 0 and 1, and numbers that are not chances, change nothing") {
  Evidence found;
  for (const double chance : {0.0, 1.0, -1.0, 2.0, std::nan("")})
    found.add(true, chance);
  CHECK(found.log() == 0);
}

TEST_CASE("another driver goes on from the numbers of the first") {
  const Evidence first = evidence(failures(1, 0, {51, 500}));
  Evidence second(first.logs());
  second.add(true, chance_of_new({50, 500}, 1));
  CHECK(second.log() == evidence(failures(2, 0, {51, 500})).log());
}

TEST_CASE("the first node is worse with chance 1/2, the next with what earlier nodes show") {
  CHECK(chance_of_worse(499, 0, 0) == 0.5);
  CHECK(chance_of_worse(500, 0, 0) == Approx(250.0 / 501));
  CHECK(chance_of_worse(1, 1, 1) == Approx(2.0 / 3));
  CHECK(chance_of_worse(20, 100, 60) == Approx(70.0 / 121));
  CHECK(chance_of_worse(0, 5, 5) == 0);
}

TEST_CASE("the chances are right for all orders of three nodes and three control nodes") {
  // Three control nodes and three nodes with the new version have six different values. All 720
  // permutations of these values are equally likely. In each permutation, some of the nodes with
  // the new version have a value above the control's median. Counts the permutations for each of
  // the eight possible sets of such nodes.
  std::vector<int> order{0, 1, 2, 3, 4, 5};
  std::array<int, 8> seen = {};
  do {
    std::array<int, 3> control = {order[0], order[1], order[2]};
    std::sort(control.begin(), control.end());
    std::size_t which = 0;
    for (int i = 3; i < 6; ++i)
      which = 2 * which + (order[static_cast<std::size_t>(i)] > control[1] ? 1 : 0);
    ++seen[which];
  } while (std::next_permutation(order.begin(), order.end()));
  for (std::size_t which = 0; which < 8; ++which) {
    CAPTURE(which);
    double chance = 1;
    std::int64_t worse = 0;
    for (std::int64_t i = 0; i < 3; ++i) {
      const double is_worse = chance_of_worse(3, i, worse);
      const bool up = (which >> (2 - i) & 1U) != 0;
      chance *= up ? is_worse : 1 - is_worse;
      if (up) ++worse;
    }
    CHECK(chance * 720 == Approx(seen[which]));
  }
}

TEST_CASE("shares and limits") {
  CHECK(log_share_of_batch(1) == Approx(std::log(1.0 / 2)));
  CHECK(log_share_of_batch(3) == Approx(std::log(1.0 / 12)));
  double sum = 0;
  for (std::int64_t batch = 1; batch <= 10'000; ++batch)
    sum += std::exp(log_share_of_batch(batch));
  CHECK(sum < 1);
  CHECK(log_limit(0.01, 1) == Approx(std::log(100)));
  CHECK(log_limit(0.01, 0.5) == Approx(std::log(200)));
  CHECK(log_sum(std::log(3), std::log(4)) == Approx(std::log(7)));
  CHECK(log_sum(-std::numeric_limits<double>::infinity(), 1) == 1);
  CHECK(log_sum(1'000, 1'000) == Approx(1'000 + std::log(2)));
}

// ---- the bake, the time after the last batch in which a rollout is still judged

constexpr Ms day = 86'400'000;

TEST_CASE("the highest rate that a control leaves possible is above the rate at which it failed") {
  CHECK(control_rate_max(0, 0) == 0);
  double before = 0;
  for (const std::int64_t failed : {0, 1, 10, 100, 1'000}) {
    const double expected = control_rate_max(failed, day) * static_cast<double>(day);
    CHECK(expected > static_cast<double>(failed));
    CHECK(expected > before);
    before = expected;
  }
  // control_rate_max() returns an upper limit of the control's true failure rate. If 1,000 failures
  // were counted in a day, the limit is below 1,800 a day. If none was counted, the limit is about
  // eight a day.
  CHECK(before < 1'800);
  CHECK(control_rate_max(0, day) * static_cast<double>(day) < 10);
  CHECK(control_rate_max(10, 2 * day) == Approx(control_rate_max(10, day) / 2));
}

TEST_CASE("evidence of a bake grows with failures, and shrinks while nobody fails") {
  const BakeCounts good{.control_failed = 10, .control_ms = day, .failed = 0, .node_ms = day};
  CHECK(log_bake_evidence({}) == 0);
  CHECK(log_bake_evidence(good) < 0);
  BakeCounts bad = good;
  bad.failed = 10;
  // Nodes with the new version have failed only as often as control nodes, so there is no evidence
  // against the version.
  CHECK(log_bake_evidence(bad) < 0);
  bad.failed = 200;
  CHECK(log_bake_evidence(bad) > log_limit(0.01, 1));
}

TEST_CASE("a bake that tolerates twice the failures compares with twice the control's rate") {
  BakeCounts counts{.control_failed = 10, .control_ms = day, .failed = 60, .node_ms = day};
  const double tolerant = log_bake_evidence(counts, 2);
  CHECK(tolerant < log_bake_evidence(counts));
  counts.node_ms *= 2;
  CHECK(tolerant == Approx(log_bake_evidence(counts)));
}

TEST_CASE("of simulated bakes of a good version, at most one in a hundred is stopped") {
  std::mt19937_64 random(7);
  // Returns a random time until the next failure. The unit of time is the average time between two
  // failures of the control.
  const auto next = [&random] {
    return -std::log(1 - std::uniform_real_distribution<double>(0, 1)(random));
  };
  // The length of one unit of time, in milliseconds. All times in this test are added up over the
  // nodes: ten nodes that run for a second give ten seconds.
  constexpr double unit = 1e6;
  constexpr int bakes = 1'000;
  const double limit = log_limit(0.01, 1 - bake_alpha / 0.01);
  for (const double control_time : {0.5, 5.0, 50.0}) {
    int stopped = 0;
    for (int i = 0; i < bakes; ++i) {
      BakeCounts counts{.control_ms = static_cast<Ms>(control_time * unit)};
      for (double at = next(); at < control_time; at += next())
        ++counts.control_failed;
      constexpr double bake_time = 30;
      bool is_stopped = false;
      for (double at = next(); at < bake_time && !is_stopped; at += next()) {
        ++counts.failed;
        counts.node_ms = static_cast<Ms>(at * unit);
        is_stopped = log_bake_evidence(counts) >= limit;
      }
      if (is_stopped) ++stopped;
    }
    CAPTURE(control_time, stopped);
    CHECK(stopped <= bakes / 100);
  }
}

}  // namespace

}  // namespace judge_verdict_test
