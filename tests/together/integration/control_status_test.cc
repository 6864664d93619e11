// Tests --control: what status.json shows while the real program runs, and why the program may be
// unable to use the directory. See upgrader(8), CONTROL DIRECTORY.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "tests/together/integration/json.h"
#include "tests/together/integration/world.h"

namespace control_status_test {

using namespace integration;

namespace {

namespace fs = std::filesystem;

Json status_of(World& world) {
  const auto status = Json::parse(world.read("ctl/status.json"));
  if (!status) world.fail("status.json is no JSON", Where::current());
  return *status;
}

void wait_for_phase(World& world, const std::string& phase) {
  world.wait_until(
      [&] {
        return fs::exists(world.path("ctl/status.json")) && status_of(world).text("phase") == phase;
      },
      "phase " + phase);
}

void start(World& world, Texts options = {}) {
  options.push_back("--control=" + world.path("ctl"));
  world.start(std::move(options));
}

// Returns the present time in the form "2026-11-23T13:10:47.918Z".
std::string wall_clock_now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char seconds[32];
  strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &parts);
  char text[48];
  std::snprintf(text, sizeof text, "%s.%03ldZ", seconds, now.tv_nsec / 1'000'000);
  return text;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

}  // namespace

TEST_CASE("a missing AGENT with a very long path is reported, cut to the length that fits") {
  World world{World::Later()};
  world.start(
      Start{.options = {"--control=" + world.path("ctl")}, .agent = std::string(70'000, 'a')});
  world.expect_exit(127);

  const Json said = status_of(world);

  CHECK(said.text("phase") == "ended");
  CHECK(said.object("ended").number("exit_status") == 127);
  CHECK(said.object("ended").boolean("cut"));
}

// Rows: H-24, H-82, Z-08
TEST_CASE("the control directory is made for its owner alone, and says who runs") {
  World world{World::Later()};
  start(world);
  Puppet first = world.first("1.2");
  wait_for_phase(world, "running");

  struct stat status {};
  REQUIRE(stat(world.path("ctl").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  const Json said = status_of(world);
  CHECK(said.object("upgrader").number("pid") == world.upgrader().pid());
  CHECK(said.object("active").number("pid") == first.pid());
  CHECK(said.object("active").text("role") == "first");
  CHECK(said.object("active").text("version") == "1.2");
  CHECK(said.object("active").text("executable") == World::puppet());
  CHECK(said.object("active").has("activated"));
  CHECK(said.object("active").array("args").size() == 0);
  CHECK_FALSE(said.has("ended"));
}

TEST_CASE("the times of status.json are those of the wall clock") {
  World world{World::Later()};
  const std::string before = wall_clock_now();
  start(world);
  Puppet first = world.first();
  wait_for_phase(world, "running");

  // All times in this form have the same length, so comparing the texts compares the times.
  const std::string started = status_of(world).object("upgrader").text("started");
  CHECK(started.size() == before.size());
  CHECK(started >= before);
  CHECK(started <= status_of(world).object("active").text("activated"));
  CHECK(status_of(world).object("active").text("activated") <= wall_clock_now());
}

// Rows: X-15
TEST_CASE("the end of the upgrader stays in status.json, and is previous.json to the next one") {
  World world{World::Later()};
  start(world);
  Puppet first = world.first();
  first.exit(3);
  world.expect_exit(3);

  const Json said = status_of(world);
  CHECK(said.text("phase") == "ended");
  CHECK(said.object("ended").number("exit_status") == 3);
  CHECK(said.object("ended").text("reason") == "generation 1 (version 1.0) exited with status 3");
  CHECK_FALSE(said.has("active"));

  const std::string left = world.read("ctl/status.json");
  start(world);
  world.first();
  CHECK(world.read("ctl/previous.json") == left);
}

TEST_CASE("an AGENT that does not exist is an end like any other") {
  World world{World::Later()};
  world.start(Start{.options = {"--control=" + world.path("ctl")}, .agent = world.path("none")});
  world.expect_exit(127);

  CHECK(status_of(world).object("ended").number("exit_status") == 127);
  CHECK(status_of(world).object("ended").text("reason").find(world.path("none")) == 0);
}

// Rows: H-39, X-14
TEST_CASE("an upgrade is told while it goes on, and when it has ended") {
  World world{World::Later()};
  start(world, {"--trial=0"});
  Puppet first = world.first();
  Puppet second = world.begin_upgrade(first, R"("gate":"confirm")");
  second.say_type("status", R"("text":"warming up")");
  second.ready();
  first.expect("candidate_ready");
  wait_for_phase(world, "confirming");

  CHECK(status_of(world).object("upgrade").text("id") == "u1");
  CHECK(status_of(world).object("upgrade").text("origin") == "agent");
  CHECK(status_of(world).object("candidate").text("status") == "warming up");
  CHECK(status_of(world).object("candidate").number("pid") == second.pid());

  second.exit(4);
  first.expect("upgrade_failed");
  wait_for_phase(world, "running");

  CHECK_FALSE(status_of(world).has("upgrade"));
  const std::string text = world.read("ctl/status.json");
  // In the record of the ended upgrade, `from` and `to` both name the puppet as their executable.
  CHECK(count(text, R"("executable":")" + World::puppet() + "\"}") == 2);
  CHECK(text.find(R"("outcome":"kept","stage":"start")") != std::string::npos);
  CHECK(text.find(R"("exit_status":4)") != std::string::npos);
}

TEST_CASE("a directory that others may write to, a link to one, and a file are refused") {
  World world{World::Later()};
  fs::create_directory(world.path("real"));
  fs::create_directory_symlink(world.path("real"), world.path("link"));
  fs::create_directory(world.path("open"));
  fs::permissions(world.path("open"), fs::perms(0720));
  world.write("file", "");

  for (const char* name : {"link", "link/", "open", "file", "none/below"}) {
    INFO(name);
    world.start({"--control=" + world.path(name)});
    world.expect_exit(125);
    CHECK(world.log().find("--control=") != std::string::npos);
    CHECK(world.agents_started() == 0);
  }
}

TEST_CASE("an obstacle to the control directory is reported") {
  World world{World::Later()};
  world.write("file", "");
  world.start({"--control=" + world.path("none/below")});
  world.expect_exit(125);
  CHECK(world.log().find("none/below: cannot be made: ") != std::string::npos);

  world.start({"--control=" + world.path("file")});
  world.expect_exit(125);
  CHECK(world.log().find("file: cannot be opened as a directory: ") != std::string::npos);
}

TEST_CASE("two upgraders do not share a control directory") {
  World world{World::Later()};
  start(world);
  world.first();
  wait_for_phase(world, "running");
  const std::string said = world.read("ctl/status.json");

  start(world);
  world.expect_exit(125);

  CHECK(world.log().find("another upgrader uses it") != std::string::npos);
  CHECK(world.read("ctl/status.json") == said);
  CHECK_FALSE(fs::exists(world.path("ctl/previous.json")));
}

TEST_CASE("a user who may read a control directory cannot keep an upgrader from it") {
  World world{World::Later()};
  fs::create_directory(world.path("ctl"));
  fs::permissions(world.path("ctl"), fs::perms(0755));
  const int reader = ::open(world.path("ctl").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(::flock(reader, LOCK_EX | LOCK_NB) == 0);

  start(world);

  world.first();
  wait_for_phase(world, "running");
  struct stat status {};
  REQUIRE(stat(world.path("ctl/.lock").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  ::close(reader);
}

TEST_CASE("if status.json cannot be written, the upgrader goes on and logs one line") {
  World world{World::Later()};
  fs::create_directories(world.path("ctl/.status.json.upgrader/full"));
  fs::permissions(world.path("ctl"), fs::perms(0700));
  start(world, {"--trial=0"});
  Puppet first = world.first();
  Puppet second = world.hand_over(first);
  second.expect("committed");

  CHECK(count(world.log(), "cannot write") == 1);
  CHECK_FALSE(fs::exists(world.path("ctl/status.json")));

  fs::remove_all(world.path("ctl/.status.json.upgrader"));
  second.exit(0);
  world.expect_exit(0);
  CHECK(status_of(world).text("phase") == "ended");
}

TEST_CASE("a file that a killed upgrader was writing is replaced, and no link is followed") {
  World world{World::Later()};
  fs::create_directory(world.path("ctl"));
  fs::permissions(world.path("ctl"), fs::perms(0700));
  world.write("precious", "precious");
  fs::create_symlink(world.path("precious"), world.path("ctl/.status.json.upgrader"));
  fs::create_symlink(world.path("precious"), world.path("ctl/status.json"));
  start(world);
  world.first();
  wait_for_phase(world, "running");

  CHECK(world.read("precious") == "precious");
  CHECK_FALSE(fs::is_symlink(world.path("ctl/status.json")));
  CHECK(count(world.log(), "cannot write") == 0);
}

TEST_CASE("a control directory that vanishes costs the news") {
  World world{World::Later()};
  start(world, {"--trial=0"});
  Puppet first = world.first();
  wait_for_phase(world, "running");
  fs::remove_all(world.path("ctl"));
  Puppet second = world.hand_over(first);
  second.expect("committed");

  CHECK_FALSE(fs::exists(world.path("ctl")));
  second.exit(0);
  world.expect_exit(0);
}

TEST_CASE("while the lock is waited for the control directory is another's") {
  World world{World::Later()};
  const std::string lock = "--lock=" + world.path("lock");
  start(world, {lock});
  Puppet first = world.first();
  wait_for_phase(world, "running");
  start(world, {lock});
  world.wait_for_log("waiting for");

  CHECK_FALSE(fs::exists(world.path("ctl/previous.json")));
  first.exit(0);
  world.first();
  wait_for_phase(world, "running");
  CHECK(status_of(world).object("upgrader").number("pid") == world.upgrader().pid());
  CHECK(fs::exists(world.path("ctl/previous.json")));
}

TEST_CASE("agents inherit nothing of the control directory") {
  World world{World::Later()};
  start(world);
  Puppet first = world.first();

  const std::string descriptors = "/proc/" + std::to_string(first.pid()) + "/fd";
  for (const auto& entry : fs::directory_iterator(descriptors)) {
    std::error_code gone;
    CHECK(fs::read_symlink(entry, gone).string().find("/ctl") == std::string::npos);
  }
}

}  // namespace control_status_test
