// Tests --relink with SIGUSR2: a link that names a failing program is put back. See upgrader(8).
#include <signal.h>

#include "tests/together/integration/releases.h"

namespace relink_by_signal_test {

using namespace integration;

TEST_CASE("a SIGUSR2 upgrade that fails puts the link back to what it named at the start") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();
  Puppet next = begin_upgrade_by_signal(world, releases);
  CHECK(next.argv() == Texts{releases.link});

  next.exit(1);

  world.wait_for_log("upgrade sigusr2-1 failed at its start");
  CHECK(target_of(releases.link) == "one");
  old.expect_silence();
  CHECK(world.log().find("cannot put") == std::string::npos);
}

TEST_CASE("a SIGUSR2 upgrade that fails on trial puts the link back, too") {
  World world{World::Later()};
  const Releases releases(world, {"--trial=1h"});
  Puppet old = world.first();
  Puppet next = begin_upgrade_by_signal(world, releases);
  hand_over(old, next);

  next.exit(1);

  CHECK(world.fallback().argv() == Texts{releases.link});
  world.wait_until([&] { return target_of(releases.link) == "one"; }, "the link to be put back");
}

TEST_CASE("a standby is activated only when the link has been put back") {
  World world{World::Later()};
  const Releases releases(world, {"--trial=1h", "--fallback=warm"});
  Puppet old = world.first();
  Puppet next = begin_upgrade_by_signal(world, releases);
  hand_over(old, next);
  Puppet standby = world.agent();
  standby.hello();
  standby.ready();
  standby.expect_silence();
  releases.point_at("two");

  next.exit(1);

  standby.expect("activate");
  CHECK(target_of(releases.link) == "one");
}

TEST_CASE("a SIGUSR2 upgrade that is refused puts the link back") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();

  SECTION("it names nothing") {
    releases.point_at("missing");
  }
  SECTION("it names what cannot be started") {
    world.write("releases/text", "echo\n");
    releases.point_at("text");
  }
  world.signal(SIGUSR2);

  world.wait_until([&] { return target_of(releases.link) == "one"; }, "the link to be put back");
  old.expect_silence();
}

TEST_CASE("after a commit it is put back to what was committed then") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();
  Puppet next = begin_upgrade_to(world, old, releases.two);
  hand_over(old, next);
  next.expect("committed");
  releases.point_at("missing");

  world.signal(SIGUSR2);

  world.wait_until([&] { return target_of(releases.link) == "two"; }, "the link to be put back");
}

TEST_CASE("a SIGUSR2 upgrade that is committed leaves the link as it was pointed") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();
  Puppet next = begin_upgrade_by_signal(world, releases);
  hand_over(old, next);

  next.expect("committed");

  CHECK(target_of(releases.link) == "two");
}

TEST_CASE("the link is put back before the candidate is started, and stays so until the commit") {
  World world{World::Later()};
  const Releases releases(world, {"--trial=1h"});
  Puppet old = world.first();

  Puppet next = begin_upgrade_by_signal(world, releases);

  CHECK(target_of(releases.link) == "one");
  hand_over(old, next);
  CHECK(target_of(releases.link) == "one");
  next.say_type("healthy");
  next.expect("committed");
  CHECK(target_of(releases.link) == "two");
}

TEST_CASE("an upgrader that is killed during a trial leaves the link to what was committed") {
  World world{World::Later()};
  const Releases releases(world, {"--trial=1h"});
  Puppet old = world.first();
  Puppet next = begin_upgrade_by_signal(world, releases);
  hand_over(old, next);

  world.signal(SIGKILL);
  world.expect_killed(SIGKILL);
  next.exit(0);
  next.expect_gone();

  CHECK(target_of(releases.link) == "one");
  Start again{.options = {"--relink", "--trial=1h"}, .agent = releases.link};
  world.start(again);
  const std::string exe = "/proc/" + std::to_string(world.first().pid()) + "/exe";
  CHECK(target_of(exe) == releases.one);
}

TEST_CASE("an upgrade by SIGUSR2 in a directory that has been exchanged is refused, and told") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();
  std::filesystem::rename(world.path("releases"), world.path("before"));
  REQUIRE(mkdir(world.path("releases").c_str(), 0755) == 0);
  world.install("releases/two");
  REQUIRE(symlink("two", releases.link.c_str()) == 0);

  world.signal(SIGUSR2);

  world.wait_for_log("cannot put the link");
  world.wait_for_log("upgrade sigusr2-1 was refused");
  CHECK(world.log().find("ESTALE") != std::string::npos);
  CHECK(world.agents_started() == 1);
  old.expect_silence();
}

TEST_CASE("an upgrade by SIGUSR2 whose link cannot be put back is refused, and starts nothing") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();
  releases.point_at("two");
  REQUIRE(mkdir(world.path("releases/.current.upgrader").c_str(), 0755) == 0);

  world.signal(SIGUSR2);

  world.wait_for_log("cannot put the link");
  world.wait_for_log("upgrade sigusr2-1 was refused");
  CHECK(world.agents_started() == 1);
  old.expect_silence();
  rmdir(world.path("releases/.current.upgrader").c_str());
}

}  // namespace relink_by_signal_test
