#include "tests/simulation/run.h"

#include "tests/explore/explorer.h"
#include "tests/simulation/seated_loop.h"

namespace upgrader::simulation {

Outcome run_seed(std::uint64_t seed, const Setting& setting) {
  const StepFunction plain = test::plain_step;
  Random random(seed);
  Swarm swarm = draw_swarm(random);
  Machine simulated(swarm, random.next());
  swarm.lock_free_at = simulated.now() + swarm.lock_free_at_delay;
  for (const auto& [delay, signal] : swarm.signals)
    simulated.schedule(simulated.now() + delay, signal);
  Director director(simulated, nullptr);
  Judge its_judge(simulated, director, setting.step ? *setting.step : plain, setting.tracker,
                  setting.trace);
  the_machine = &simulated;
  the_judge = &its_judge;
  const int status = run_loop(swarm);
  its_judge.run_ended(status);
  the_machine = nullptr;
  the_judge = nullptr;
  return {its_judge.verdict(), its_judge.tally()};
}

}  // namespace upgrader::simulation
