#include "tests/together/simulation/run.h"

#include "tests/decisions/explore/explorer.h"
#include "tests/together/simulation/seated_loop.h"
#include "upgrader/core/options.h"

namespace upgrader::simulation {

namespace {

// Changes the random options and faults of a run so that it can be guided. The run gets the options
// of the map on which the guide's path, a sequence of events, was found. The random events that
// would hinder the guide are removed: signals, operators, hold-ups of the loop, and late events of
// agents that have exited.
void leave_to_guide(Swarm& swarm, int policy, Random& random) {
  const Policy explored = test::explored_policy(policy);
  Options& options = swarm.options;
  const auto as_explored = [](Duration& limit, Duration its) {
    if (its == Duration(0)) limit = Duration(0);
    if (its != Duration(0) && limit == Duration(0)) limit = its;
  };
  as_explored(options.defaults.start_timeout, explored.defaults.start_timeout);
  as_explored(options.defaults.trial, explored.defaults.trial);
  as_explored(options.exit_grace, explored.exit_grace);
  options.defaults.mode = explored.defaults.mode;
  options.defaults.on_unclean_stop = explored.defaults.on_unclean_stop;
  options.defaults.gate = explored.defaults.gate;
  const bool gate = explored.defaults.gate == agent_protocol::Gate::confirm;
  options.defaults.confirm_timeout =
      gate ? explored.defaults.confirm_timeout : options.defaults.start_timeout;
  options.defaults.commit = explored.defaults.commit;
  options.defaults.fallback = explored.defaults.fallback;
  options.relink = explored.relink;
  if (explored.watchdog == Duration(0)) {
    swarm.watchdog = Duration(0);
  } else if (swarm.watchdog == Duration(0)) {
    swarm.watchdog = random.chance(50) ? explored.watchdog : Duration(86'400'000);
  }
  swarm.guided = true;
  swarm.init_reads = Duration(0);
  swarm.signals.clear();
  swarm.visits.clear();
  swarm.options.control_directory.reset();
  swarm.hold_ups = swarm.freezes = swarm.jostles = swarm.stale_events = 0;
  swarm.input_capacity = swarm.output_capacity = 65'536;
  swarm.waits_for_lock = false;
}

void let_wait_for_lock(Swarm& swarm) {
  swarm.waits_for_lock = true;
  swarm.options.lock_file = "lock";
}

}  // namespace

RunOutcome run_seed(std::uint64_t seed, const Setting& setting) {
  const StepFunction plain = test::plain_step;
  Random random(seed);
  Swarm swarm = draw_swarm(random);
  std::optional<Goal> goal;
  if (setting.goals != nullptr && is_guided(seed)) goal = setting.goals->goal(seed);
  if (goal) leave_to_guide(swarm, goal->policy, random);
  Machine simulated(swarm, random.next());
  for (const auto& [delay, signal] : swarm.signals)
    simulated.schedule(simulated.now() + delay, signal);
  for (const Swarm::Visit& visit : swarm.visits)
    simulated.operators.expect(simulated.now() + visit.delay, visit.lines, visit.stays);
  std::optional<Follower> follower;
  if (setting.atlas != nullptr) follower.emplace(*setting.atlas, setting.visits);
  std::optional<MapGuide> guide;
  if (goal) guide.emplace(simulated, setting.atlas->sheet(goal->policy), *follower, *goal, swarm);
  if (follower) follower->begin(followed_policy(swarm), swarm.options.exit_grace);
  if (guide && guide->begins_early()) let_wait_for_lock(swarm);
  swarm.lock_free_at = guide ? Time::max() : simulated.now() + swarm.lock_free_at_delay;
  Director director(simulated, guide ? &*guide : nullptr);
  Judge its_judge(simulated, director, setting.step ? *setting.step : plain,
                  follower ? &*follower : nullptr, setting.trace);
  the_machine = &simulated;
  the_judge = &its_judge;
  const int status = run_loop(swarm);
  its_judge.run_ended(status);
  the_machine = nullptr;
  the_judge = nullptr;
  Tally tally = its_judge.tally();
  tally.guided = guide ? 1 : 0;
  tally.arrived = guide && guide->arrived() ? 1 : 0;
  return {its_judge.verdict(), tally};
}

}  // namespace upgrader::simulation
