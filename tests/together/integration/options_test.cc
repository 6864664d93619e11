// Tests the command line: see upgrader(8).
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/world.h"

namespace options_test {

using namespace integration;

namespace {

// Checks that the upgrader refuses a command line with these arguments.
void expect_usage_error(const Texts& words) {
  std::string text;
  for (const std::string& word : words)
    text += " " + word;
  INFO("upgrader" << text);
  World world(Start{.options = words, .agent = "-"});
  world.expect_exit(125);
  CHECK_FALSE(world.log().empty());
  CHECK(world.agents_started() == 0);
}

}  // namespace

TEST_CASE("--help and --version speak on standard output, and exit with 0") {
  const std::string option = GENERATE("--help", "-h", "--version");
  World world(Start{.options = {option}, .agent = "-"});

  world.expect_exit(0);

  CHECK(world.output().find("upgrader") != std::string::npos);
  CHECK(world.log().empty());
}

TEST_CASE("help that cannot be written is a failure, and the log says why") {
  const std::string option = GENERATE("--help", "--version");
  World world(Start{.options = {option}, .agent = "-", .before_exec = [] {
                      const int full = open("/dev/full", O_WRONLY);
                      if (dup2(full, 1) < 0) _exit(1);
                    }});

  world.expect_exit(125);

  CHECK(world.log() ==
        "upgrader: error: cannot write standard output: No space left on device (ENOSPC)\n");
}

TEST_CASE("--help names every option and every signal") {
  World world(Start{.options = {"--help"}, .agent = "-"});

  world.expect_exit(0);

  for (const char* option : {"--mode",       "--start-timeout", "--stop-timeout",
                             "--exit-grace", "--trial",         "--on-unclean-stop",
                             "--relink",     "--lock",          "--lock-timeout",
                             "--log-level",  "--notify-fd",     "--subreaper",
                             "--adapter",    "--control",       "--help",
                             "--version",    "SIGTERM",         "SIGINT",
                             "SIGQUIT",      "SIGHUP",          "SIGUSR1",
                             "SIGUSR2"}) {
    INFO(option);
    CHECK(world.output().find(option) != std::string::npos);
  }
}

TEST_CASE("a command line that cannot be is a usage error: 125") {
  const std::string agent = World::puppet();
  expect_usage_error({});
  expect_usage_error({"--"});
  expect_usage_error({"--nonsense", "--", agent});
  expect_usage_error({"-x", agent});
  expect_usage_error({"--mode=both", "--", agent});
  expect_usage_error({"--mode=", "--", agent});
  expect_usage_error({"--mode", "--", agent});
  expect_usage_error({"--on-unclean-stop=ignore", "--", agent});
  expect_usage_error({"--log-level=loud", "--", agent});
  expect_usage_error({"--relink=yes", "--", agent});
  expect_usage_error({"--subreaper=yes", "--", agent});
  expect_usage_error({"--notify-fd=1", "--", agent});
  expect_usage_error({"--lock=", "--", agent});
  expect_usage_error({"--control=", "--", agent});
  expect_usage_error({"--stop-timeout=0", "--", agent});
  expect_usage_error({"--stop-timeout=0s", "--", agent});
  expect_usage_error({"--lock-timeout=1s", "--", agent});
  expect_usage_error({"--adapter", "--", agent});
  expect_usage_error({"--adapter=", "--", agent});
  expect_usage_error({"--adapter=", "--adapter=" + agent, "--", agent});
  expect_usage_error({"--trial=1s", "--trial=1s", "--", agent});
}

TEST_CASE("a duration is a whole number with its unit, at most a day, or 0") {
  for (const char* wrong :
       {"", "10", "1.5s", "-1s", "s", "1 s", " 1s", "1s ", "1d", "1S", "25h", "86401s",
        "86400001ms", "1441m", "99999999999999999999s", "0x1s", "1sec", "+1s", "1h30m"}) {
    expect_usage_error({"--trial=" + std::string(wrong), "--", World::puppet()});
  }
  for (const char* right :
       {"0", "0s", "0ms", "1ms", "1s", "1m", "1h", "24h", "1440m", "86400s", "86400000ms"}) {
    INFO(right);
    World world({"--trial=" + std::string(right)});
    world.first();
  }
}

TEST_CASE("each option takes a duration of its own") {
  const std::string option =
      GENERATE("--start-timeout", "--stop-timeout", "--exit-grace", "--trial", "--lock-timeout");

  expect_usage_error({option, "--", World::puppet()});
  expect_usage_error({option + "=1x", "--", World::puppet()});
  World world{World::Later()};
  world.start({"--lock=" + world.path("lock"), option + "=30s"});
  world.first();
}

TEST_CASE("every option may be given at once, and the -- may be left out") {
  World world{World::Later()};
  Start start{
      .options = {"--mode=parallel", "--start-timeout=1m", "--stop-timeout=1m", "--exit-grace=1m",
                  "--trial=1m", "--on-unclean-stop=continue", "--lock=" + world.path("lock"),
                  "--lock-timeout=1m", "--control=" + world.path("control"), "--log-level=debug"},
      .agent = "-"};
  start.options.push_back(World::puppet());

  world.start(start);

  world.first();
}

TEST_CASE("without --stop-timeout a stop has 90 seconds") {
  World world;
  Puppet old = world.first();
  Puppet next = world.ready_candidate(old);

  const std::int64_t left = old.expect("stop").number("deadline_ms");

  CHECK(left <= 90'000);
  CHECK(left > 80'000);
}

TEST_CASE("an upgrade that does not say its mode has the option's") {
  World world({"--mode=sequential"});
  Puppet old = world.first();
  SECTION("the option's") {
    old.request_upgrade("u1");
    old.expect("accepted");
    old.expect("stop");
  }
  SECTION("its own") {
    world.begin_upgrade(old, R"("mode":"parallel")");
    old.expect_silence();
  }
}

TEST_CASE("an upgrade that does not say its start timeout has the option's") {
  World world({"--start-timeout=700ms"});
  Puppet old = world.first();
  old.request_upgrade("u1");
  old.expect("accepted");

  CHECK(old.expect("upgrade_failed").text("stage") == "start");
}

TEST_CASE("a start timeout of 0 is no limit") {
  World world({"--start-timeout=0", "--stop-timeout=100ms", "--exit-grace=100ms", "--trial=100ms"});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);

  world.pass(300);

  old.expect_silence();
  next.expect_silence();
}

TEST_CASE("a fallback has the longer of the upgrade's start timeout and the option's") {
  World world({"--start-timeout=1s"});
  SECTION("the upgrade's") {
    Puppet next = world.hand_over(world.first(), R"("start_timeout_ms":60000)");
    next.exit(1);
    Puppet back = world.agent();
    world.pass(1'100);
    back.hello();
    back.ready();
    back.expect("activate");
  }
  SECTION("the upgrade's, which is no limit") {
    Puppet next = world.hand_over(world.first(), R"("start_timeout_ms":0)");
    next.exit(1);
    Puppet back = world.agent();
    world.pass(1'100);
    back.hello();
    back.ready();
    back.expect("activate");
  }
  SECTION("the option's") {
    Puppet next = world.hand_over(world.first(), R"("start_timeout_ms":999)");
    next.exit(1);
    world.agent();
    world.expect_exit(125);
  }
}

TEST_CASE("a shutdown has the option's stop timeout") {
  World world({"--stop-timeout=20s", "--trial=0"});
  Puppet next = world.hand_over(world.first(), R"("stop_timeout_ms":60000)");
  next.expect("committed");

  world.signal(15);

  CHECK(next.stop_cleanly().number("deadline_ms") <= 20'000);
  world.expect_exit(0);
}

TEST_CASE("the log is quieter or wordier as asked, and errors are always there") {
  std::size_t sizes[4] = {};
  std::size_t index = 0;
  for (const char* level : {"error", "warning", "info", "debug"}) {
    World world({"--trial=0", "--log-level=" + std::string(level)});
    Puppet active = world.first();
    world.begin_upgrade(active).exit(3);
    active.expect("upgrade_failed");
    world.signal(3);
    world.expect_exit(131);
    CHECK(world.log().find("upgrader: error: the upgrader ends with status 131\n") !=
          std::string::npos);
    sizes[index++] = world.log().size();
  }

  CHECK(sizes[0] < sizes[1]);
  CHECK(sizes[1] < sizes[2]);
  CHECK(sizes[2] <= sizes[3]);
}

TEST_CASE("a service that crashes says so whatever the log's level, and with which status") {
  World world({"--log-level=error"});
  world.first().kill(SIGSEGV);

  world.expect_exit(128 + SIGSEGV);

  CHECK(world.log() ==
        "upgrader: error: generation 1 (version 1.0) was killed by signal 11 (SIGSEGV); "
        "the upgrader ends with status 139\n");
}

TEST_CASE("a service that exits with status 0 is a warning, and a first agent's early end is 125") {
  World over({"--log-level=warning"});
  over.first().exit(0);
  over.expect_exit(0);
  World early({"--log-level=warning"});
  early.agent().exit(0);
  early.expect_exit(125);

  CHECK(over.log() ==
        "upgrader: warning: generation 1 (version 1.0) exited with status 0; "
        "the upgrader ends with status 0\n");
  CHECK(early.log() ==
        "upgrader: error: generation 1 failed: exited with status 0 before it was ready; "
        "the upgrader ends with status 125\n");
}

}  // namespace options_test
