// Tests --relink: the link on disk names the committed program. See upgrader(8).
#include <linux/capability.h>
#include <sys/prctl.h>

#include <algorithm>

#include "tests/together/integration/releases.h"

namespace relink_test {

using namespace integration;

namespace {

// Gives up the capabilities by which root ignores the modes and owners of files.
void become_ordinary() {
  prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);
  prctl(PR_CAPBSET_DROP, CAP_FOWNER);
}

Texts names_in(const std::string& directory) {
  Texts names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("an AGENT that is no symbolic link is a usage error with --relink") {
  World world({"--relink"});

  world.expect_exit(125);

  CHECK(world.agents_started() == 0);
}

TEST_CASE("at the commit the link is made to name the committed executable, as it named before") {
  const bool relative = GENERATE(true, false);
  World world{World::Later()};
  const Releases releases(world, {}, relative);
  Puppet old = world.first();
  CHECK(target_of(releases.link) == (relative ? "one" : releases.one));
  Puppet next = begin_upgrade_to(world, old, releases.two);
  next.ready();
  old.expect("stop");
  CHECK(target_of(releases.link) == (relative ? "one" : releases.one));
  old.say_type("stopped");
  old.exit(0);
  next.expect("activate");

  next.expect("committed");

  CHECK(target_of(releases.link) == (relative ? "two" : releases.two));
  CHECK(names_in(world.path("releases")) == Texts{"current", "one", "two"});
}

TEST_CASE("a relative link stays relative, also to another directory") {
  World world{World::Later()};
  const Releases releases(world);
  REQUIRE(mkdir(world.path("elsewhere").c_str(), 0755) == 0);
  const std::string three = world.install("elsewhere/three");
  Puppet old = world.first();
  Puppet next = begin_upgrade_to(world, old, three);
  next.ready();
  old.stop_cleanly();
  next.expect("activate");

  next.expect("committed");

  CHECK_FALSE(target_of(releases.link).starts_with("/"));
  CHECK(std::filesystem::canonical(releases.link) == three);
}

TEST_CASE("before the commit the link is as it was") {
  World world{World::Later()};
  const Releases releases(world, {"--trial=1h"});
  Puppet old = world.first();
  Puppet next = begin_upgrade_to(world, old, releases.two);
  next.ready();
  old.stop_cleanly();
  next.expect("activate");
  next.expect_silence();
  CHECK(target_of(releases.link) == "one");

  SECTION("and after a fallback") {
    next.exit(1);
    world.fallback();
    CHECK(target_of(releases.link) == "one");
  }
  SECTION("and at healthy it is made to name the new one") {
    next.say_type("healthy");
    next.expect("committed");
    CHECK(target_of(releases.link) == "two");
  }
}

TEST_CASE("without --relink the link is nobody's to change") {
  World world{World::Later()};
  const std::string one = world.install("one");
  const std::string two = world.install("two");
  const std::string link = world.path("current");
  REQUIRE(symlink("one", link.c_str()) == 0);
  world.start({.options = {"--trial=0"}, .agent = link});
  Puppet old = world.first();
  Puppet next = begin_upgrade_to(world, old, two);
  next.ready();
  old.stop_cleanly();
  next.expect("activate");

  next.expect("committed");

  CHECK(target_of(link) == "one");
}

TEST_CASE("a link that cannot be renamed over fails the upgrade before the stop") {
  World world{World::Later()};
  const Releases releases(world, {}, true, become_ordinary);
  Puppet old = world.first();

  SECTION("its directory cannot be written") {
    REQUIRE(chmod(world.path("releases").c_str(), 0555) == 0);
  }
  SECTION("its directory is sticky, and the link another's") {
    REQUIRE(chmod(world.path("releases").c_str(), 01777) == 0);
    if (chown(world.path("releases").c_str(), 1, 1) != 0) return;
    if (lchown(releases.link.c_str(), 1, 1) != 0) return;
  }
  old.request_upgrade("u1", "", releases.two);

  const std::string answer = old.next_line();
  if (answer.find("\"accepted\"") != std::string::npos) {
    world.candidate().ready();
    CHECK(old.expect("upgrade_failed").text("stage") == "commit");
  } else {
    CHECK(Json::parse(answer)->text("stage") == "commit");
  }
  old.expect_silence();
  REQUIRE(chmod(world.path("releases").c_str(), 0755) == 0);
}

TEST_CASE("a link that cannot be written at the commit rolls the agent on trial back") {
  World world{World::Later()};
  const Releases releases(world, {"--trial=1h"}, true, become_ordinary);
  Puppet old = world.first();
  Puppet next = begin_upgrade_to(world, old, releases.two);
  next.ready();
  old.stop_cleanly();
  next.expect("activate");
  REQUIRE(chmod(world.path("releases").c_str(), 0555) == 0);

  next.say_type("healthy");

  CHECK(next.stop_cleanly().text("reason") == "rollback");
  Puppet back = world.agent();
  CHECK(back.hello().object("failure").text("stage") == "commit");
  back.ready();
  CHECK(back.expect("activate").boolean("clean"));
  CHECK(target_of(releases.link) == "one");
  REQUIRE(chmod(world.path("releases").c_str(), 0755) == 0);
}

TEST_CASE("an executable that its path does not name any more costs nothing before the stop") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();
  Puppet next = begin_upgrade_to(world, old, releases.two);
  SECTION("it was deleted") {
    unlink(releases.two.c_str());
  }
  SECTION("it was replaced") {
    world.install("releases/new");
    REQUIRE(rename(world.path("releases/new").c_str(), releases.two.c_str()) == 0);
  }

  next.ready();

  CHECK(old.expect("upgrade_failed").text("stage") == "commit");
  old.expect_silence();
  CHECK(target_of(releases.link) == "one");
}

TEST_CASE("an executable that its path does not name any more cannot be committed") {
  World world{World::Later()};
  const Releases releases(world, {"--trial=1h"});
  Puppet old = world.first();
  Puppet next = begin_upgrade_to(world, old, releases.two);
  next.ready();
  old.stop_cleanly();
  next.expect("activate");
  SECTION("it was deleted") {
    unlink(releases.two.c_str());
  }
  SECTION("it was replaced") {
    world.install("releases/new");
    REQUIRE(rename(world.path("releases/new").c_str(), releases.two.c_str()) == 0);
  }

  next.say_type("healthy");

  CHECK(next.stop_cleanly().text("reason") == "rollback");
  CHECK(world.agent().hello().object("failure").text("stage") == "commit");
  CHECK(target_of(releases.link) == "one");
}

// Rows: J-20
TEST_CASE("a restart of the upgrader starts what was committed") {
  World world{World::Later()};
  const Releases releases(world);
  Puppet old = world.first();
  Puppet next = begin_upgrade_to(world, old, releases.two);
  next.ready();
  old.stop_cleanly();
  next.expect("activate");
  next.expect("committed");
  next.exit(0);
  world.expect_exit(0);

  world.start({.options = {"--relink"}, .agent = releases.link});

  const Puppet again = world.first();
  CHECK(std::filesystem::canonical("/proc/" + std::to_string(again.pid()) + "/exe") ==
        releases.two);
}

}  // namespace relink_test
