// Tests requests through the control directory of the real program. See upgrader(8), CONTROL
// DIRECTORY.
#include <signal.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <memory>

#include "tests/together/integration/control.h"

namespace control_requests_test {

using namespace integration;

namespace fs = std::filesystem;

namespace {

// An upgrader with a control directory, and its first agent.
struct Scene {
  explicit Scene(Texts options = {}) {
    options.push_back(person.option());
    world.start(std::move(options));
    first = std::make_unique<Puppet>(world.first());
    person.wait_for_phase("running");
  }

  World world{World::Later()};
  Operator person{world};
  std::unique_ptr<Puppet> first;
};

}  // namespace

TEST_CASE("an operator upgrades, and the agent hears of it at its stop") {
  Scene scene({"--trial=0"});
  scene.person.ask("upgrade", "r1");
  Puppet second = scene.world.candidate();
  scene.person.expect_ok("r1", "upgrade");
  second.ready();
  const Json stop = scene.first->stop_cleanly();
  CHECK(stop.text("id") == "control-1");
  second.expect("activate");
  second.expect("committed");

  scene.person.wait_for(R"("id":"control-1","origin":"control","outcome":"committed")");
}

// Rows: Z-06
TEST_CASE("the gate of an operator's upgrade is opened by an operator") {
  Scene scene({"--trial=0"});
  scene.person.ask("upgrade", "r1", R"("id":"u1","gate":"confirm")");
  Puppet second = scene.world.candidate();
  second.ready();
  scene.person.wait_for_phase("confirming");
  scene.first->expect_silence();

  scene.person.ask("confirm", "r2", R"("id":"u1")");
  scene.person.expect_ok("r2", "confirm");
  scene.first->stop_cleanly();
  second.expect("activate");
}

// Rows: Z-06, Z-07
TEST_CASE("an operator cancels, commits and rolls back") {
  Scene scene({"--trial=1h"});
  scene.person.ask("upgrade", "r1", R"("id":"u1")");
  Puppet second = scene.world.candidate();
  scene.person.ask("cancel", "r2", R"("id":"u1","reason":"not today")");
  scene.person.wait_for(R"("id":"u1","origin":"control","outcome":"kept","stage":"cancel",)"
                        R"("reason":"cancelled by the control directory: not today")");
  second.expect_gone();
  scene.first->expect_silence();

  scene.person.ask("upgrade", "r3", R"("id":"u2")");
  Puppet third = scene.world.candidate();
  third.ready();
  scene.first->stop_cleanly();
  third.expect("activate");
  scene.person.ask("commit", "r4", R"("id":"u2")");
  third.expect("committed");

  scene.person.ask("upgrade", "r5", R"("id":"u3")");
  Puppet fourth = scene.world.candidate();
  fourth.ready();
  third.stop_cleanly();
  fourth.expect("activate");
  scene.person.ask("rollback", "r6", R"("id":"u3")");
  fourth.stop_cleanly();
  scene.world.fallback();
  scene.person.wait_for(R"("id":"u3","origin":"control","outcome":"fell_back","stage":"trial")");
}

TEST_CASE("an operator shuts down, and the FIFO goes with the upgrader") {
  Scene scene;
  CHECK((fs::status(scene.world.path("ctl/control")).permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));

  scene.person.ask("shutdown", "r1");
  scene.first->stop_cleanly();
  scene.world.expect_exit(0);

  CHECK(scene.person.shows(R"({"request":"r1","type":"shutdown","ok":true})"));
  CHECK_FALSE(fs::exists(scene.world.path("ctl/control")));
}

TEST_CASE("a request that was answered is not obeyed again, whoever repeats it") {
  Scene scene;
  scene.person.ask("upgrade", "r1");
  Puppet second = scene.world.candidate();
  scene.person.expect_ok("r1", "upgrade");
  second.exit(1);
  scene.person.wait_for(R"("outcome":"kept")");

  scene.person.ask("upgrade", "r1");
  scene.person.ask("upgrade", "r2", R"("id":"control-1")");
  scene.person.wait_for(R"("request":"r2","type":"upgrade","ok":true,"reason":"kept)");
  scene.first->expect_silence();
  CHECK(scene.world.agents_started() == 2);
}

TEST_CASE("lines of several writers, cut in pieces, and lines that are none") {
  Scene scene;
  const int one = scene.person.open_fifo();
  const int other = scene.person.open_fifo();
  REQUIRE(one >= 0);
  const auto put = [](int fd, const std::string& bytes) {
    CHECK(write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  };
  put(one, "{\"type\":\"commit\",\"request\":\"a\",");
  put(one, "\"id\":\"x\"}\n");
  put(other, "hullo\n\n[1]\n{\"type\":\"commit\"}\n" + std::string(5'000, 'y') + "\n");
  put(other, R"({"type":"nonsense","request":"b"})"
             "\n");
  close(one);
  close(other);

  scene.person.expect_refused("a", "commit");
  scene.person.expect_refused("b", "nonsense");
  scene.world.wait_for_log("control directory: stray output: ");
  scene.first->expect_silence();
}

TEST_CASE("the log tells of a request that is no known one, by its name and its type") {
  Scene scene;
  scene.person.ask("nonsense", "b");

  scene.person.expect_refused("b", "nonsense");
  scene.world.wait_for_log("request b (nonsense) refused: ");
}

TEST_CASE(
    "a line without a newline is stray when its last writer has gone, and the next line is read") {
  Scene scene;
  scene.person.write("no newline");
  scene.world.wait_for_log("not a whole line: no newline");

  scene.person.ask("confirm", "a", R"("id":"x")");

  scene.person.expect_refused("a", "confirm");
}

TEST_CASE("the longest line that one write may hold is read, and a longer one is stray") {
  Scene scene;
  const std::string head = R"({"type":"commit","request":"long","id":"x","pad":")";
  const std::string tail = "\"}\n";
  scene.person.write(head + std::string(4'096 - head.size() - tail.size(), 'p') + tail);
  scene.person.expect_refused("long", "commit");

  const std::string longer = R"({"type":"commit","request":"longer","id":"x","pad":")";
  scene.person.write(longer + std::string(4'097 - longer.size() - tail.size(), 'p') + tail);
  scene.person.ask("commit", "after", R"("id":"x")");
  scene.person.expect_refused("after", "commit");
  CHECK_FALSE(scene.person.shows("\"longer\""));
}

TEST_CASE("a flood of requests keeps no agent waiting") {
  Scene scene({"--trial=0"});
  const int fd = scene.person.open_fifo();
  REQUIRE(fd >= 0);
  std::string lines;
  while (lines.size() < 4'000)
    lines += R"({"type":"commit","request":"r","id":"x"})"
             "\n";
  const auto flood = [&] {
    for (int i = 0; i < 16; ++i)
      (void)!write(fd, lines.data(), lines.size());
  };
  flood();
  scene.first->request_upgrade("u1");
  scene.first->expect("accepted");
  Puppet second = scene.world.candidate();
  flood();
  second.ready();
  scene.first->stop_cleanly();
  flood();
  second.expect("activate");
  second.expect("committed");
  close(fd);
}

TEST_CASE("opening the FIFO fails at once if no upgrader reads it") {
  World world{World::Later()};
  Operator person(world);
  CHECK(person.open_fifo() == -1);
  CHECK(errno == ENOENT);

  fs::create_directory(world.path("ctl"));
  fs::permissions(world.path("ctl"), fs::perms(0700));
  REQUIRE(mkfifo(world.path("ctl/control").c_str(), 0600) == 0);
  CHECK(person.open_fifo() == -1);
  CHECK(errno == ENXIO);

  world.start({person.option()});
  world.first();
  person.ask("commit", "r1", R"("id":"x")");
  person.expect_refused("r1", "commit");
}

// Rows: Z-05
TEST_CASE("an upgrade that cannot begin is refused with the reason") {
  Scene scene;
  scene.person.ask("upgrade", "r1", R"("executable":"/nonexistent/agent")");
  scene.person.wait_for(R"("request":"r1","type":"upgrade","ok":false,"reason":")");
  CHECK(scene.person.shows("/nonexistent/agent"));
  scene.first->expect_silence();
}

}  // namespace control_requests_test
