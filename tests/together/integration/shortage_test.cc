// Tests an upgrader that is started with too few descriptors. See EXIT STATUS in upgrader(8).
#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/sanitizer.h"
#include "tests/together/integration/world.h"

namespace shortage_test {

using namespace integration;

TEST_CASE("a shortage of descriptors at AGENT's start is not a fault of AGENT") {
  constexpr rlim_t more_than_the_first_agent_needs = 24;
  constexpr rlim_t enough_to_speak = 5;
  bool served = false;
  for (rlim_t count = enough_to_speak; count < more_than_the_first_agent_needs; ++count) {
    World world{World::Later()};
    world.start(Start{.environment = environment_without_leak_check(), .before_exec = [count] {
                        const rlimit limit{count, count};
                        setrlimit(RLIMIT_NOFILE, &limit);
                      }});

    world.wait_until([&] { return world.agents_started() > 0 || !world.upgrader().running(); },
                     "an agent or the end");

    INFO("with " << count << " descriptors: " << world.log());
    served = world.upgrader().running();
    if (served) break;
    const std::string ending = world.upgrader().ending();
    // libuv aborts the process if it cannot make its first pipe.
    CHECK((ending == "exit status 125" || ending == "signal 6"));
  }
  CHECK(served);
}

}  // namespace shortage_test
