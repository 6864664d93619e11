// Simulates plans with random events. No member (node of the plan) may ever begin a step before all
// members have done the previous step. A large plan has thirty members and twenty steps of four
// classes. Its driver is killed at random moments, and each member is killed once in each step.
// Small plans also have members that fail or are silent. RUNS=N simulates N small plans, and a
// large plan for every 10,000 of them, but at least one. SEED=N repeats one small plan.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "tests/together/fleet/long_run.h"
#include "tests/together/fleet/plan_world.h"

namespace plan_simulate_test {

namespace {

using namespace fleet_test;
using namespace fleet;
using Move = PlanWorld::Move;

constexpr std::size_t many_members = 30;
constexpr std::size_t many_steps = 20;
constexpr std::size_t plans_per_large_one = 10'000;

std::vector<PlanStep> some_steps(Random& random, std::size_t count) {
  constexpr StepClass kinds[] = {StepClass::any, StepClass::one_at_a_time, StepClass::once,
                                 StepClass::together};
  std::vector<PlanStep> steps;
  for (std::size_t i = 0; i < count; ++i) {
    steps.push_back({.name = "s" + std::to_string(i),
                     .kind = kinds[below(random, std::size(kinds))],
                     .hook = "h"});
  }
  return steps;
}

struct Life {
  std::string wrong = {};
  std::string end = {};
  std::size_t killed = 0;  // how many members were killed
};

// Runs a plan to its end. `choose` chooses the next step from all possible steps.
template <class Choose>
Life live(const PlanSetup& setup, const Choose& choose) {
  // A run that is not over after this number of steps is broken off. A plan with thirty members and
  // twenty steps takes about 10,000 steps of this simulation.
  constexpr std::size_t steps_max = 100'000;
  PlanWorld world(setup);
  Life life;
  for (std::size_t i = 0; i < steps_max && world.wrong().empty(); ++i) {
    const auto steps = world.steps();
    if (steps.empty()) break;
    const PlanWorld::Step step = choose(world, steps);
    life.killed += step.move == Move::member_dies;
    world.make(step);
  }
  life.wrong = world.wrong().empty() ? world.wrong_end() : world.wrong();
  life.end = world.end();
  return life;
}

// Runs a large plan in which each member dies once in each of the plan's steps, at its first or
// second move in that step. No member dies while its hook does the work (`act`). After such a
// death, the member could not know how much was done, so the plan would halt.
Life live_with_every_death(Random& random) {
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> moves_to_death;
  const PlanSetup setup{.steps = some_steps(random, many_steps),
                        .members = std::vector(many_members, Member::good),
                        .driver_kills = many_steps,
                        .member_kills = many_members * many_steps};
  return live(setup, [&](const PlanWorld& world, const std::vector<PlanWorld::Step>& steps) {
    std::vector<PlanWorld::Step> possible;
    std::copy_if(steps.begin(), steps.end(), std::back_inserter(possible),
                 [](const auto& step) { return step.move != Move::member_dies; });
    PlanWorld::Step step = possible[below(random, possible.size())];
    if (step.move != Move::member) return step;
    const PlanMember member = world.member(step.which);
    if (member.step == 0 || member.phase == MemberPhase::acting) return step;
    const auto [left, is_first] = moves_to_death.try_emplace({step.which, member.step});
    if (is_first) left->second = 1 + below(random, 2);
    if (left->second > 0 && --left->second == 0) step.move = Move::member_dies;
    return step;
  });
}

// Chooses a step at random. Faults are less likely than steps that bring the plan forward.
PlanWorld::Step by_chance(Random& random, const std::vector<PlanWorld::Step>& steps) {
  std::vector<PlanWorld::Step> ordinary;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(ordinary), [](const auto& step) {
    return step.move != Move::member_dies && step.move != Move::driver_dies;
  });
  const bool fault = ordinary.empty() || below(random, 8) == 0;
  return fault ? steps[below(random, steps.size())] : ordinary[below(random, ordinary.size())];
}

Life live_by_chance(std::uint64_t seed, PlanSeeded seeded = PlanSeeded::none) {
  using enum Member;
  constexpr Member bad[] = {says_no, cannot_stop, cannot_act, silent, reboots};
  Random random(seed);
  PlanSetup setup{.steps = some_steps(random, 1 + below(random, 5)),
                  .driver_kills = static_cast<int>(below(random, 4)),
                  .member_kills = static_cast<int>(below(random, 4)),
                  .hastes = static_cast<int>(below(random, 2)),
                  .stops = static_cast<int>(below(random, 3)),
                  .seeded = seeded};
  const std::size_t members = 2 + below(random, 6);
  for (std::size_t i = 0; i < members; ++i)
    setup.members.push_back(below(random, 8) == 0 ? bad[below(random, std::size(bad))] : good);
  return live(setup, [&random](const PlanWorld&, const std::vector<PlanWorld::Step>& steps) {
    return by_chance(random, steps);
  });
}

// Requirements (tests/judging/rows): N-06, N-27
TEST_CASE("thirty members and twenty steps, each member killed in each: none is a step ahead") {
  const std::size_t runs = std::max<std::size_t>(1, number_of("RUNS", 0) / plans_per_large_one);
  std::size_t killed = 0;
  for (std::size_t seed = 1; seed <= runs; ++seed) {
    Random random(seed);
    const Life life = live_with_every_death(random);
    CAPTURE(seed);
    REQUIRE(life.wrong == "");
    CHECK(life.end == "completed");
    CHECK(life.killed == many_members * many_steps);
    killed += life.killed;
  }
  report("make simulate-fleet RUNS=" + std::to_string(runs * plans_per_large_one),
         std::to_string(runs) + " plans of " + std::to_string(many_members) + " members and " +
             std::to_string(many_steps) + " steps: " + std::to_string(killed) +
             " kills, of each member in each step",
         "nobody is a step ahead, each plan is completed");
}

TEST_CASE("random plans end as they must, whichever process dies") {
  const std::size_t one = number_of("SEED", 0);
  const std::size_t runs = number_of("RUNS", 300);
  std::map<std::string, std::size_t> ends;
  for (std::size_t seed = one != 0 ? one : 1; seed <= (one != 0 ? one : runs); ++seed) {
    const Life life = live_by_chance(seed);
    CAPTURE(seed);
    REQUIRE(life.wrong == "");
    ++ends[life.end];
  }
  CHECK((one != 0 || ends.size() == 3));
  report("make simulate-fleet RUNS=" + std::to_string(runs),
         std::to_string(runs) + " random plans: " + std::to_string(ends["completed"]) +
             " completed, " + std::to_string(ends["aborted"]) + " aborted, " +
             std::to_string(ends["halted"]) + " halted",
         "each ends as it must, nobody is a step ahead or acts twice");
}

TEST_CASE("canaries: random plans find an error that is seeded in driver or member") {
  const PlanSeeded seeded =
      GENERATE(PlanSeeded::no_compares, PlanSeeded::early, PlanSeeded::all_act);
  std::string wrong;
  for (std::uint64_t seed = 1; seed <= 500 && wrong.empty(); ++seed)
    wrong = live_by_chance(seed, seeded).wrong;
  CHECK(wrong != "");
}

}  // namespace

}  // namespace plan_simulate_test
