// Simulates larger rollouts with random events. There are many good and bad nodes, nodes that are
// cut off, drivers that are killed or frozen, lost answers of the store, gates, and a person who
// gives orders, pins nodes and forgets some. rollout_judge.cc checks every transaction. RUNS=N
// makes N runs, SEED=N repeats one.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/together/fleet/long_run.h"
#include "tests/together/fleet/rollout_world.h"

namespace rollout_simulate_test {

namespace {

using namespace fleet_test;
using fleet::GateSays;
using fleet::RolloutOrder;
using fleet::RolloutState;

bool one_of(Random& random, std::size_t count) {
  return below(random, count) == 0;
}

WorldSetup setup_of(Random& random) {
  using enum Nature;
  constexpr Nature bad[] = {bad_prepare,      bad_start,     bad_soak,        silent,
                            interrupted_once, lost_at_apply, lost_at_confirm, bad_undo};
  constexpr std::string_view sites[] = {"north", "south", "east", "west"};
  WorldSetup setup;
  const std::size_t nodes = 3 + below(random, 28);
  const std::size_t per_hundred = below(random, 3) * 10;
  const bool has_sites = one_of(random, 4);
  for (std::size_t i = 0; i < nodes; ++i) {
    const bool is_bad = below(random, 100) < per_hundred;
    setup.nodes.push_back(is_bad ? bad[below(random, std::size(bad))] : good);
    if (has_sites) setup.sites.emplace_back(sites[below(random, std::size(sites))]);
  }
  setup.batch = 1 + static_cast<std::int64_t>(below(random, 9));
  setup.max_failed = 1 + static_cast<std::int64_t>(below(random, 4));
  setup.max_failed_unsaid = one_of(random, 4);
  setup.faults = {.kills = static_cast<int>(below(random, 6)),
                  .unknowns = static_cast<int>(below(random, 8)),
                  .abandoned = static_cast<int>(below(random, 2)),
                  .orders = static_cast<int>(below(random, 4)),
                  .lags = static_cast<int>(below(random, 3)),
                  .absences = static_cast<int>(below(random, 4))};
  setup.orders = {RolloutOrder::abort, RolloutOrder::abort_and_leave, RolloutOrder::pause,
                  RolloutOrder::undo, RolloutOrder::undo_now};
  setup.person_stops = true;
  setup.person_pins = true;
  setup.person_forgets = true;
  setup.undo = one_of(random, 3);
  setup.has_gate = one_of(random, 3);
  setup.gate_says = {GateSays::well, GateSays::well, GateSays::worse, GateSays::not_known};
  setup.bake_ms = one_of(random, 3) ? 60'000 : 0;
  return setup;
}

// Chooses a step at random. Faults are less likely than steps that bring the rollout forward.
RolloutWorld::Step choose(Random& random, const std::vector<RolloutWorld::Step>& steps) {
  using Move = RolloutWorld::Move;
  std::vector<RolloutWorld::Step> ordinary;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(ordinary), [](const auto& step) {
    return step.move == Move::deliver || step.move == Move::node_acts ||
           step.move == Move::time_passes;
  });
  const bool fault = ordinary.empty() || below(random, 12) == 0;
  return fault ? steps[below(random, steps.size())] : ordinary[below(random, ordinary.size())];
}

struct Life {
  std::string wrong;
  RolloutState end = RolloutState::unknown;
  double commits_per_node = 0;
};

Life live(std::uint64_t seed, Seeded seeded = Seeded::none) {
  // A rollout over thirty nodes takes about a thousand steps of this simulation.
  constexpr std::size_t steps_max = 20'000;
  Random random(seed);
  WorldSetup setup = setup_of(random);
  setup.seeded = seeded;
  RolloutWorld world(setup);
  for (std::size_t i = 0; i < steps_max && world.wrong().empty(); ++i) {
    const auto steps = world.steps();
    if (steps.empty()) break;
    world.make(choose(random, steps));
  }
  Life life{world.wrong(), world.rollout().state,
            static_cast<double>(world.commits()) / static_cast<double>(setup.nodes.size())};
  if (life.wrong.empty()) life.wrong = world.wrong_end();
  return life;
}

TEST_CASE("random rollouts end as they must, whichever process dies") {
  const std::size_t one = number_of("SEED", 0);
  const std::size_t runs = number_of("RUNS", 150);
  std::map<RolloutState, std::size_t> ends;
  double most = 0;
  for (std::size_t seed = one != 0 ? one : 1; seed <= (one != 0 ? one : runs); ++seed) {
    const Life life = live(seed);
    CAPTURE(seed);
    REQUIRE(life.wrong == "");
    ++ends[life.end];
    most = std::max(most, life.commits_per_node);
  }
  CHECK((one != 0 || ends.size() == 4));
  report("make simulate-fleet RUNS=" + std::to_string(runs),
         std::to_string(runs) +
             " random rollouts: " + std::to_string(ends[RolloutState::completed]) + " completed, " +
             std::to_string(ends[RolloutState::aborted]) + " aborted, " +
             std::to_string(ends[RolloutState::undone]) + " undone, " +
             std::to_string(ends[RolloutState::paused]) + " paused",
         "each ends as it must, nothing is written or done twice");
}

TEST_CASE("canaries: random rollouts find an error that is seeded in the driver") {
  const Seeded seeded = GENERATE(Seeded::no_fence, Seeded::no_stop, Seeded::no_revision,
                                 Seeded::no_stage, Seeded::confirm_early, Seeded::blame_good);
  std::string wrong;
  for (std::uint64_t seed = 1; seed <= 500 && wrong.empty(); ++seed)
    wrong = live(seed, seeded).wrong;
  CHECK(wrong != "");
}

}  // namespace

}  // namespace rollout_simulate_test
