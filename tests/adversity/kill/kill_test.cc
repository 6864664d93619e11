// Tests some of the kill points (a signal at one step of an upgrade), one of each kind, and some
// canaries (injected bugs that a kill point must find). `make kill` tests all canaries and more
// kill points, and with LONG=1 it tests all kill points.
#include <catch2/catch.hpp>

#include "tests/adversity/kill/point.h"
#include "tests/adversity/kill/scene.h"

namespace kill_test {

using namespace kill_points;

TEST_CASE("whichever process is struck in an upgrade, one working agent follows") {
  const std::string name = GENERATE(
      as<std::string>(),
      "parallel/lock/good/upgrader-first/active/after-upgrader-writes-accepted/SIGKILL",
      "parallel/lock/good/upgrader-first/active/after-agent-1-writes-stopped/SIGSEGV",
      "parallel/lock/good/agents-first/candidate/after-agent-2-executes/SIGKILL",
      "parallel/no-lock/good/upgrader-first/candidate/after-upgrader-writes-stop/SIGSEGV",
      "parallel/no-lock/unclean/upgrader-first/fallback/after-agent-3-reads-welcome/SIGKILL",
      "parallel/lock/relink/upgrader-first/upgrader/before-upgrader-writes-committed/SIGKILL",
      "parallel/lock/bad-boot/upgrader-first/upgrader/before-upgrader-renames/SIGKILL",
      "parallel/lock/warm-dies-on-trial/upgrader-first/upgrader/after-agent-2-ends/SIGKILL",
      "parallel/lock/warm-dies-beside/upgrader-first/fallback/after-agent-3-reads-welcome/SIGKILL",
      "sequential/lock/good/upgrader-first/upgrader/before-upgrader-forks/SIGKILL",
      "sequential/no-lock/good/upgrader-first/upgrader/after-upgrader-writes-stop/SIGSTOP");
  const Theatre theatre;
  Point point;
  REQUIRE(parse(name, point));

  const Verdict verdict = play(theatre.cast(), point);

  INFO(name << ": " << verdict.wrong << "\n" << verdict.account);
  CHECK(verdict.good());
}

TEST_CASE("an upgrader that ends as no page says is caught, and so is a point that is none") {
  const Theatre theatre;
  for (const Canary& canary : canaries(theatre.cast())) {
    if (!canary.quick) continue;
    INFO(canary.seeded);
    CHECK(canary.missed() == "");
  }
}

}  // namespace kill_test
