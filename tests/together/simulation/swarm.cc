#include "tests/together/simulation/swarm.h"

#include <csignal>

namespace upgrader::simulation {

Duration some_time(Random& random) {
  constexpr std::int64_t scales[] = {50, 400, 3'000, 20'000, 120'000, 1'200'000};
  const std::int64_t scale = scales[random.below(std::size(scales))];
  return Duration(random.between(scale / 2, scale * 3));
}

namespace {

// Draws the rate of a fault, in percent. With a probability of `percent_on` percent, the rate is a
// number from 1 to `most`. Otherwise it is 0.
int rarely(Random& random, int percent_on, int most) {
  return random.chance(percent_on) ? static_cast<int>(random.between(1, most)) : 0;
}

Duration limit(Random& random, bool none) {
  return none ? Duration(0) : some_time(random);
}

Options draw_options(Random& random) {
  Options options;
  // The exploration has only runs with all time limits and runs with none. Most simulated runs are
  // of these two kinds, too.
  const bool no_limits = random.chance(25);
  const bool mixed = random.chance(10);
  options.defaults.start_timeout = limit(random, mixed ? random.chance(30) : no_limits);
  options.exit_grace = limit(random, mixed ? random.chance(30) : no_limits);
  options.defaults.trial = limit(random, mixed ? random.chance(30) : no_limits);
  options.defaults.stop_timeout = some_time(random);
  options.defaults.confirm_timeout = options.defaults.start_timeout;
  options.relink = random.chance(50);
  if (mixed && random.chance(50)) options.defaults.mode = agent_protocol::Mode::sequential;
  if (mixed && random.chance(50)) {
    options.defaults.on_unclean_stop = agent_protocol::UncleanStop::carry_on;
  }
  if (random.chance(25)) options.defaults.fallback = agent_protocol::FallbackMode::warm;
  options.agent = "/opt/agent-1";
  options.log_level = LogLevel::error;
  return options;
}

void draw_machine(Random& random, Swarm& swarm) {
  swarm.timers_last = random.chance(50);
  swarm.splits = rarely(random, 40, 60);
  swarm.interrupts = rarely(random, 10, 20);
  swarm.jostles = rarely(random, 40, 30);
  swarm.hold_ups = rarely(random, 30, 20);
  swarm.hold_up_ms = some_time(random).count();
  swarm.freezes = rarely(random, 15, 10);
  swarm.late_kills = rarely(random, 20, 100);
  swarm.check_failures = rarely(random, 10, 40);
  swarm.lost_ways_back = rarely(random, 5, 40);
  swarm.spawn_failures = rarely(random, 10, 40);
  swarm.proof_failures = rarely(random, 10, 40);
  swarm.relink_failures = rarely(random, 10, 50);
  if (random.chance(20)) swarm.input_capacity = 4'096;
  if (random.chance(20)) swarm.output_capacity = 1 + random.below(8'192);
  swarm.stale_events = rarely(random, 20, 10);
  swarm.waits_for_lock = random.chance(5);
  swarm.options.lock_timeout = Duration(0);
  if (swarm.waits_for_lock) swarm.options.lock_file = "lock";
  swarm.lock_free_at_delay = swarm.waits_for_lock ? some_time(random) : Duration(0);
  if (random.chance(20)) swarm.init_reads = some_time(random);
  // Each run ends with a good upgrade, whose trial takes a second. In guided runs, agents send no
  // heartbeats. So the watchdog must not expire within this second.
  if (random.chance(20)) swarm.watchdog = some_time(random) + Duration(2'000);
}

void draw_agents(Random& random, Swarm& swarm) {
  swarm.mischief_makers = random.chance(70) ? static_cast<int>(random.between(5, 70)) : 0;
  swarm.mischief_max = static_cast<std::size_t>(random.between(1, 4));
  const std::size_t kinds = 1 + random.below(5);
  for (std::size_t i = 0; i < kinds; ++i) {
    swarm.deeds.push_back(static_cast<Deed>(random.below(static_cast<int>(Deed::outburst) + 1)));
  }
  swarm.trickles = rarely(random, 20, 100);
  swarm.slowness_ms = some_time(random).count() / 10 + 1;
  swarm.upgrades_at_most = static_cast<int>(random.between(1, 5));
  swarm.cancels = rarely(random, 30, 60);
  swarm.odd_requests = rarely(random, 20, 50);
}

void draw_signals(Random& random, Swarm& swarm) {
  constexpr int all[] = {SIGTERM, SIGINT, SIGQUIT, SIGUSR2, SIGUSR2, SIGUSR2, SIGHUP, SIGUSR1};
  const std::size_t count = random.chance(40) ? random.below(4) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    swarm.signals.emplace_back(some_time(random) / 4, all[random.below(std::size(all))]);
  }
}

// Draws when operators come and write requests. Some write one line; some write more lines than the
// upgrader may read in one turn of its loop.
void draw_operators(Random& random, Swarm& swarm) {
  if (!random.chance(30)) return;
  swarm.options.control_directory = "ctl";
  const std::size_t count = random.below(6);
  for (std::size_t i = 0; i < count; ++i) {
    const int lines = static_cast<int>(random.between(1, random.chance(15) ? 80 : 6));
    swarm.visits.push_back({some_time(random) / 4, lines, Duration(random.below(2'000))});
  }
  swarm.status_failures = rarely(random, 20, 60);
  swarm.fifo_failures = random.chance(3) ? 100 : rarely(random, 10, 30);
}

}  // namespace

Swarm draw_swarm(Random& random) {
  Swarm swarm;
  swarm.options = draw_options(random);
  draw_machine(random, swarm);
  draw_agents(random, swarm);
  draw_signals(random, swarm);
  swarm.calm_after = some_time(random) * 2;
  draw_operators(random, swarm);
  return swarm;
}

}  // namespace upgrader::simulation
