// --relink and SIGUSR2: a link that was pointed at what fails is put back. See upgrader(8).
#include <signal.h>

#include "tests/integration/releases.h"

using namespace integration;

TEST_CASE("a SIGUSR2 upgrade that fails puts the link back to what it named at the start") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();
  releases.point_at("two");
  world.signal(SIGUSR2);
  Puppet next = world.candidate();
  CHECK(next.argv() == Texts{releases.link});

  next.exit(1);

  world.wait_until([&] { return target_of(releases.link) == "one"; }, "the link to be put back");
  old.expect_silence();
  CHECK(world.log().find("cannot put") == std::string::npos);
}

TEST_CASE("a SIGUSR2 upgrade that fails on trial puts the link back, too") {
  World world{World::Later()};
  const Releases releases(world, {"--trial=1h"});
  Puppet old = world.first();
  releases.point_at("two");
  world.signal(SIGUSR2);
  Puppet next = world.candidate();
  next.ready();
  old.stop_cleanly();
  next.expect("activate");

  next.exit(1);

  CHECK(world.fallback().argv() == Texts{releases.link});
  world.wait_until([&] { return target_of(releases.link) == "one"; }, "the link to be put back");
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
  next.ready();
  old.stop_cleanly();
  next.expect("activate");
  next.expect("committed");
  releases.point_at("missing");

  world.signal(SIGUSR2);

  world.wait_until([&] { return target_of(releases.link) == "two"; }, "the link to be put back");
}

TEST_CASE("a SIGUSR2 upgrade that is committed leaves the link as it was pointed") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();
  releases.point_at("two");
  world.signal(SIGUSR2);
  Puppet next = world.candidate();
  next.ready();
  old.stop_cleanly();
  next.expect("activate");

  next.expect("committed");

  CHECK(target_of(releases.link) == "two");
}
