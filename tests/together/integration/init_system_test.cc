// Tests how the upgrader notifies init: the messages that it sends in the protocol of sd_notify(3),
// the watchdog that init may demand, and the descriptor on which it tells service managers without
// this protocol that it is ready. See upgrader(8), and `status` and `heartbeat` in
// agent-protocol(7).
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/together/integration/notify_socket.h"
#include "tests/together/integration/world.h"

namespace init_system_test {

using namespace integration;

// ---- messages to init about the upgrader's readiness, its status and its end

TEST_CASE("init is told READY=1 once, when the first agent is active, and STOPPING=1 at the end") {
  World world{World::Later()};
  const bool abstract = GENERATE(false, true);
  Init init((abstract ? "@" : "") + world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet old = world.agent();
  old.hello();
  CHECK(init.count("READY=1") == 0);
  old.ready();
  old.expect("activate");
  init.hears(world, "READY=1\n");

  Puppet next = world.hand_over(old);
  next.expect("committed");
  init.hears(world, "STATUS=running 2.0 (generation 2)\n");
  world.signal(SIGTERM);
  next.expect("stop");
  init.hears(world, "STOPPING=1\n");

  next.say_type("stopped");
  next.exit(0);
  world.expect_exit(0);
  CHECK(init.count("READY=1") == 1);
  CHECK(init.count("STOPPING=1") == 1);
}

TEST_CASE("init is told how an upgrade stands") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=1h"}, .environment = {init.variable()}});
  Puppet old = world.first();

  Puppet next = world.begin_upgrade(old);
  init.hears(
      world,
      "STATUS=running 1.0 (generation 1); upgrade u1: starting 2.0 (generation 2), 300 s left\n");
  next.ready();
  old.expect("stop");
  init.hears(world, "STATUS=stopping 1.0 (generation 1); upgrade u1, 90 s left\n");
  old.say_type("stopped");
  old.exit(0);
  next.expect("activate");
  init.hears(world, "STATUS=running 2.0 (generation 2); upgrade u1 on trial, 3600 s left\n");
  next.exit(1);
  init.hears(world, "upgrade u1 has failed, falling back");

  world.fallback();
}

TEST_CASE("an agent's own status is shown to init until the agent has gone") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet active = world.first();

  active.say("stray");
  active.say(R"({"type":"status","text":"42 files\nin hand"})");
  init.hears(world, "; generation 1 (version 1.0): 42 files\\nin hand\n");

  Puppet next = world.hand_over(active);
  next.expect("committed");
  init.hears(world, "STATUS=running 2.0 (generation 2)\n");
  CHECK(init.count("stray") == 0);
}

TEST_CASE("a socket of init that is not there costs nothing") {
  World world{World::Later()};
  const std::string socket = GENERATE("/nowhere/notify", "@nowhere", "vsock:2:1234", "");
  world.start(Start{.options = {"--trial=0"}, .environment = {"NOTIFY_SOCKET=" + socket}});

  Puppet old = world.first();

  world.hand_over(old).expect("committed");
}

TEST_CASE("an agent that floods the upgrader with extend does not flood init") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--start-timeout=1h"}, .environment = {init.variable()}});
  const bool of_a_candidate = GENERATE(false, true);
  Puppet active = of_a_candidate ? world.first() : world.agent();
  if (!of_a_candidate) active.hello();
  Puppet flooding = of_a_candidate ? world.begin_upgrade(active) : active;
  const std::int64_t began = Init::milliseconds_now();
  const std::size_t before = init.messages();

  flooding.flood(R"({"type":"extend","ms":86400000})", 20'000);
  flooding.say(R"({"type":"status","text":"all said"})");

  init.hears(world, "all said");
  const auto seconds = static_cast<std::size_t>((Init::milliseconds_now() - began) / 1'000) + 1;
  CHECK(init.messages() - before <= 10 * seconds);
}

TEST_CASE("READY=1 and STOPPING=1 come as soon as a full socket of init has room again") {
  World world{World::Later()};
  Init init(world.path("notify"));
  init.fill();
  world.start(Start{.environment = {init.variable()}});
  Puppet active = world.first();
  init.hears(world, "READY=1\n");
  CHECK(init.count("READY=1") == 1);
  init.fill();

  world.signal(SIGTERM);
  active.expect("stop");
  init.hears(world, "STOPPING=1\n");

  active.say_type("stopped");
  active.exit(0);
  world.expect_exit(0);
}

TEST_CASE("the end of the upgrader waits for nobody who does not read init's socket") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.environment = {init.variable()}});
  Puppet active = world.first();
  init.hears(world, "READY=1\n");
  init.fill();
  world.signal(SIGTERM);
  active.stop_cleanly();

  world.expect_exit(0);
}

TEST_CASE("init is told that an upgrade has failed until the next one begins") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet active = world.first();

  world.begin_upgrade(active).exit(3);
  active.expect("upgrade_failed");
  init.hears(world,
             "STATUS=running 1.0 (generation 1); upgrade u1 failed at its start: exited with "
             "status 3 before it was ready\n");
  world.hand_over(active).expect("committed");

  init.hears(world, "STATUS=running 2.0 (generation 3)\n");
}

TEST_CASE("READY=1 waits for the word of a first agent that has the feature readiness") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--start-timeout=30s"}, .environment = {init.variable()}});
  Puppet first = world.agent();
  first.say_type("hello", R"("protocol":1,"version":"1.0","features":["other","readiness"])");
  CHECK(first.next_line().find(R"("features":["readiness"])") != std::string::npos);
  first.ready();
  first.expect("activate");
  init.hears(world, "STATUS=starting 1.0 (generation 1), 30 s left\n");
  first.say_type("extend", R"("ms":60000)");
  init.hears(world, "EXTEND_TIMEOUT_USEC=6");
  first.expect_silence();
  CHECK(init.count("READY=1") == 0);

  first.say_type("healthy");

  init.hears(world, "READY=1\nSTATUS=running 1.0 (generation 1)\n");
  first.say_type("extend", R"("ms":1)");
  first.expect_error("extend");
}

TEST_CASE(
    "a first agent that never says that it works is killed, and the upgrader exits with 125") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--start-timeout=1s"}, .environment = {init.variable()}});
  Puppet first = world.agent();
  first.say_type("hello", R"("protocol":1,"features":["readiness"])");
  first.expect("welcome");
  first.ready();
  first.expect("activate");

  world.expect_exit(125);

  CHECK(init.count("READY=1") == 0);
  world.wait_for_log("generation 1 failed: did not say healthy within 1s; ");
}

// ---- upgrades by SIGUSR2, and more time for a start or a stop

TEST_CASE("an upgrade by a signal is a reload to init, whether it is committed or fails") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet old = world.first();
  init.hears(world, "READY=1\n");
  const bool good = GENERATE(true, false);

  world.signal(SIGUSR2);
  Puppet next = world.candidate();
  init.hears(world, "RELOADING=1\nMONOTONIC_USEC=");
  CHECK(init.count("READY=1") == 1);
  if (good) {
    hand_over(old, next);
    next.expect("committed");
  } else {
    next.exit(1);
  }

  world.wait_until([&] { return init.count("READY=1") == 2; }, "init hears READY=1 again");
  CHECK(init.count("RELOADING=1") == 1);
}

TEST_CASE("a signal that no upgrade can follow is answered to init all the same") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.environment = {init.variable()}});
  Puppet old = world.first();
  Puppet next = world.begin_upgrade(old);

  world.signal(SIGUSR2);

  world.wait_until([&] { return init.count("READY=1") == 2; }, "init hears READY=1 again");
  CHECK(init.count("RELOADING=1\nMONOTONIC_USEC=") == 1);
  next.exit(1);
  old.expect("upgrade_failed");
}

TEST_CASE("an upgrade that the agent asked for is no reload") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--trial=0"}, .environment = {init.variable()}});
  Puppet old = world.first();

  world.hand_over(old).expect("committed");

  init.hears(world, "STATUS=running 2.0 (generation 2)\n");
  CHECK(init.count("RELOADING=1") == 0);
  CHECK(init.count("READY=1") == 1);
}

TEST_CASE("init is told when a first agent, or a stop, is given more time") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(Start{.options = {"--start-timeout=20s", "--stop-timeout=20s"},
                    .environment = {init.variable()}});
  Puppet active = world.agent();
  active.hello();
  active.say_type("extend", R"("ms":3600000)");
  init.hears(world, "EXTEND_TIMEOUT_USEC=360");
  active.ready();
  active.expect("activate");
  world.signal(SIGTERM);
  active.expect("stop");
  CHECK(init.count("EXTEND_TIMEOUT_USEC=") == 1);

  active.say_type("extend", R"("ms":7200000)");

  init.hears(world, "EXTEND_TIMEOUT_USEC=720");
  active.say_type("stopped");
  active.exit(0);
  world.expect_exit(0);
}

// ---- the watchdog: see WATCHDOG_USEC in upgrader(8)

namespace {

Start watched(const Init& init, const std::string& microseconds) {
  return Start{.options = {"--trial=1h"},
               .environment = {init.variable(), "WATCHDOG_USEC=" + microseconds}};
}

}  // namespace

TEST_CASE("init hears WATCHDOG=1 while heartbeats come, none while they do not, and then again") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(watched(init, "300000"));
  Puppet active = world.agent();
  CHECK(active.hello("1.0").number("watchdog_ms") == 300);
  active.ready();
  active.expect("activate");
  const auto hears_one_more = [&] {
    const int before = init.count("WATCHDOG=1\n");
    active.say_type("heartbeat");
    world.wait_until([&] { return init.count("WATCHDOG=1\n") > before; }, "init hears WATCHDOG=1");
  };
  for (int round = 0; round < 3; ++round)
    hears_one_more();

  init.hears(world, "STATUS=running 1.0 (generation 1), silent\n");
  const int before = init.count("WATCHDOG=1\n");
  world.pass(400);
  CHECK(init.count("WATCHDOG=1\n") == before);
  hears_one_more();

  CHECK(world.log().find("generation 1 (version 1.0) is silent: no heartbeat within 300ms") !=
        std::string::npos);
  world.wait_for_log("generation 1 (version 1.0) sends heartbeats again");
}

// Requirements (tests/judging/rows): H-101
TEST_CASE("an agent that falls silent on trial is rolled back at once") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(watched(init, "1000000"));
  Puppet old = world.first();
  init.hears(world, "READY=1");  // reads the messages, because the socket holds only a few
  Puppet next = world.hand_over(old);
  init.hears(world, "upgrade u1 on trial");

  const Json stop = next.expect("stop");
  CHECK(stop.text("reason") == "rollback");
  init.hears(world, "STATUS=stopping 2.0 (generation 2); upgrade u1 has failed, rolling back");
  const int before = init.count("WATCHDOG=1\n");
  world.wait_until([&] { return init.count("WATCHDOG=1\n") > before; },
                   "the upgrader vouches for the roll-back");
  next.say_type("stopped");
  next.exit(0);

  Puppet fallback = world.agent();
  const Json welcome = fallback.hello("1.0");
  CHECK(welcome.object("failure").text("stage") == "trial");
  CHECK(welcome.object("failure").text("reason") == "no heartbeat within 1s");
  CHECK(welcome.number("watchdog_ms") == 1000);
}

TEST_CASE("a heartbeat that is there when its deadline is judged counts") {
  World world{World::Later()};
  Init init(world.path("notify"));
  world.start(watched(init, "1000000"));
  Puppet old = world.first();
  Puppet next = world.hand_over(old);
  world.freeze();
  world.pass(1'100);

  next.say_type("heartbeat");
  next.say_type("nonsense");
  world.thaw();

  next.expect_error("nonsense");
  CHECK(world.log().find("no heartbeat") == std::string::npos);
  CHECK(next.expect("stop").text("reason") == "rollback");
}

TEST_CASE("a watchdog of another process is ignored, and a malformed one is also logged") {
  World world{World::Later()};
  Init init(world.path("notify"));
  const bool others = GENERATE(true, false);
  world.start(
      Start{.environment = {init.variable(), others ? "WATCHDOG_USEC=1000" : "WATCHDOG_USEC=soon",
                            others ? "WATCHDOG_PID=1" : "X=1"}});

  Puppet active = world.agent();
  CHECK_FALSE(active.hello().has("watchdog_ms"));
  CHECK_FALSE(active.report().has_variable("WATCHDOG_USEC"));
  CHECK_FALSE(active.report().has_variable("WATCHDOG_PID"));
  CHECK_FALSE(active.report().has_variable("NOTIFY_SOCKET"));
  const bool told = world.log().find("warning: WATCHDOG_USEC=soon is ignored") != std::string::npos;
  CHECK(told == !others);
}

TEST_CASE("agents are asked for heartbeats also where init has no socket to hear of them") {
  World world(Start{.environment = {"WATCHDOG_USEC=60000000"}});

  CHECK(world.agent().hello().number("watchdog_ms") == 60'000);
}

// ---- readiness by a descriptor: see --notify-fd in upgrader(8)

namespace {

// A pipe whose write end is passed to an upgrader under a chosen descriptor number.
class Pipe {
 public:
  Pipe() { REQUIRE(::pipe2(ends_, O_CLOEXEC | O_NONBLOCK) == 0); }
  ~Pipe() {
    ::close(ends_[0]);
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // Moves the write end to this descriptor number. Must be called in the child that becomes the
  // upgrader, before the exec.
  void become(int number) const { put_at(number, ends_[1]); }
  void become_read(int number) const { put_at(number, ends_[0]); }
  void close_write() { ::close(std::exchange(ends_[1], -1)); }

  // Returns all bytes that have come, followed by " closed" if the write end is closed.
  std::string heard() {
    char bytes[100];
    for (ssize_t size; (size = ::read(ends_[0], bytes, sizeof bytes)) >= 0;) {
      text_.append(bytes, static_cast<std::size_t>(size));
      if (size == 0) return text_ + " closed";
    }
    return text_;
  }

 private:
  static void put_at(int number, int fd) {
    ::dup2(fd, number);
    ::fcntl(number, F_SETFD, 0);
  }

  int ends_[2];
  std::string text_;
};

void expect_refusal(Start start, const std::string& reason) {
  World world(std::move(start));

  world.expect_exit(125);

  INFO(world.log());
  CHECK(world.log().find(reason) != std::string::npos);
  CHECK(world.agents_started() == 0);
}

}  // namespace

TEST_CASE("--notify-fd hears one newline when the first agent is active, and is closed") {
  World world{World::Later()};
  Pipe pipe;
  const int number = GENERATE(3, 7);
  Start start{.options = {"--trial=0", "--notify-fd=" + std::to_string(number)},
              .before_exec = [&] { pipe.become(number); }};
  const bool locked = GENERATE(false, true);
  if (locked) start.options.push_back("--lock=" + world.path("lock"));
  world.start(start);
  pipe.close_write();
  Puppet old = world.agent();
  CHECK(old.report().keys("fd:").size() == (locked ? 4 : 3));
  old.hello();
  old.expect_silence();
  CHECK(pipe.heard().empty());

  old.ready();
  old.expect("activate");
  world.wait_until([&] { return pipe.heard() == "\n closed"; }, "the newline");

  world.hand_over(old).expect("committed");
}

TEST_CASE("--notify-fd is closed without a word when no agent becomes active") {
  World world{World::Later()};
  Pipe pipe;
  world.start(Start{.options = {"--notify-fd=5"}, .before_exec = [&] { pipe.become(5); }});
  pipe.close_write();

  world.agent().exit(4);

  world.expect_exit(4);
  CHECK(pipe.heard() == " closed");
}

TEST_CASE("a --notify-fd that nobody reads costs nothing") {
  World world{World::Later()};
  {
    const Pipe pipe;
    world.start(Start{.options = {"--notify-fd=5"}, .before_exec = [&] { pipe.become(5); }});
  }

  world.first().expect_silence();
}

TEST_CASE("a --notify-fd that cannot be told is a usage error") {
  const Pipe pipe;
  expect_refusal({.options = {"--notify-fd=99"}}, "--notify-fd=99: ");
  expect_refusal({.options = {"--notify-fd=5"}, .before_exec = [&] { pipe.become_read(5); }},
                 "--notify-fd=5: it is not open for writing");
  expect_refusal({.options = {"--notify-fd=2"}}, "3 or more");
  expect_refusal({.options = {"--notify-fd=4"},
                  .environment = {"LISTEN_FDS=2", "LISTEN_PID=self"},
                  .before_exec =
                      [] {
                        ::dup2(2, 3);
                        ::dup2(2, 4);
                      }},
                 "--notify-fd=4: it is one of the sockets that init passed");
}

}  // namespace init_system_test
