// Every state that the supervisor can reach, under every policy that changes what it does.
#include <catch2/catch.hpp>
#include <iostream>

#include "tests/explore/explorer.h"

namespace {

using namespace upgrader;
using namespace upgrader::test;

Policy policy(bool relink, agent_protocol::Mode mode, Duration limits) {
  Policy made;
  made.defaults.mode = mode;
  made.defaults.start_timeout = limits;
  made.defaults.stop_timeout = std::chrono::seconds(90);
  made.defaults.trial = limits;
  made.exit_grace = limits;
  made.relink = relink;
  return made;
}

}  // namespace

TEST_CASE("no order of events breaks an invariant") {
  const bool relink = GENERATE(false, true);
  const auto mode = GENERATE(agent_protocol::Mode::parallel, agent_protocol::Mode::sequential);
  const Duration limits = GENERATE(Duration(0), Duration(10'000));

  const Exploration walk = explore(policy(relink, mode, limits));

  for (const std::string& violation : walk.violations)
    FAIL_CHECK(violation);
  CHECK(walk.running_states > 0);
  std::cout << "report: explored " << walk.states << " states, " << walk.edges << " edges, "
            << walk.cells.size() << " cells of phase and event; relink " << relink
            << ", default mode "
            << (mode == agent_protocol::Mode::parallel ? "parallel" : "sequential") << ", limits "
            << limits.count() << " ms\n";
}
