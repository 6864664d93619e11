// Tests the upgrader's texts on standard output, and the log line if it cannot put a link back.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/releases.h"

namespace output_test {

using namespace integration;

TEST_CASE("help that cannot be written is a failure") {
  const std::string option = GENERATE("--help", "--version");
  World world(Start{.options = {option}, .agent = "-", .before_exec = [] {
                      const int full = open("/dev/full", O_WRONLY);
                      if (dup2(full, 1) < 0) _exit(1);
                    }});

  world.expect_exit(125);
}

TEST_CASE("a link that cannot be put back is told, and the agent serves on") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet active = world.first();
  std::filesystem::remove_all(world.path("releases"));

  world.signal(SIGUSR2);

  world.wait_for_log("cannot put the link");
  active.expect_silence();
}

}  // namespace output_test
