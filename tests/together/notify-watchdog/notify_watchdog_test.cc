// Tests the parts of notify-watchdog. One part decides when to feed the watchdog device, and
// whether to disarm it before the program exits. Other parts parse the command line and the
// notifications, and limit how many notifications are read at a time.
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tools/notify-watchdog/guard.h"
#include "tools/notify-watchdog/notify_socket.h"
#include "tools/notify-watchdog/options.h"

namespace notify_watchdog_test {

using namespace notify_watchdog;
using namespace std::chrono_literals;

// ---- the decisions when to feed the watchdog device, and whether to disarm it

namespace {

constexpr Terms terms{.device_timeout = 60s, .start_timeout = 5min, .stop_timeout = 2min};

// The part of notify-watchdog that decides when to feed or disarm the watchdog device, and a clock
// that the test moves.
class Bench {
 public:
  explicit Bench(const Terms& with = terms) : guard_(with, now_) {}

  Actions notified(std::string_view text) {
    return guard_.step(Notified{parse_notification(text)}, now_);
  }
  Actions device_is_missing() { return guard_.step(DeviceChanged{.armed = false}, now_); }
  Actions signalled(int number) { return guard_.step(SignalArrived{number}, now_); }
  Actions exits(int status) {
    return guard_.step(ChildEnded{ChildEnded::How::exited, status}, now_);
  }
  Actions is_killed(int number) {
    return guard_.step(ChildEnded{ChildEnded::How::killed, number}, now_);
  }
  // Moves the clock by `time`. Reports to the tested part each deadline that passes in this time.
  // Returns the actions after all these deadlines.
  Actions wait(Duration time) {
    Actions all;
    const Time end = now_ + time;
    for (auto due = guard_.next_deadline(); due && *due <= end; due = guard_.next_deadline()) {
      now_ = *due;
      for (Action& action : guard_.step(TimePassed{}, now_))
        all.push_back(std::move(action));
    }
    now_ = end;
    return all;
  }
  Phase phase() const { return guard_.phase(); }

 private:
  Time now_{1h};
  Guard guard_;
};

std::size_t feeds(const Actions& actions) {
  std::size_t count = 0;
  for (const Action& action : actions)
    count += std::holds_alternative<Feed>(action) ? 1 : 0;
  return count;
}

std::string log_of(const Actions& actions) {
  std::string text;
  for (const Action& action : actions) {
    if (const auto* line = std::get_if<Log>(&action)) text += line->text + "\n";
  }
  return text;
}

Leave end_of(const Actions& actions) {
  REQUIRE_FALSE(actions.empty());
  return std::get<Leave>(actions.back());
}

}  // namespace

TEST_CASE("until READY=1 it feeds the device four times within its timeout, and no longer") {
  Bench bench;
  CHECK(feeds(bench.wait(60s)) == 4);

  const Actions actions = bench.wait(1h);

  CHECK(feeds(actions) == 15);
  CHECK(log_of(actions) ==
        "no READY=1 within the start timeout: the device is not fed any more, and resets the "
        "machine within 60s\n");
  CHECK(bench.phase() == Phase::starving);
}

TEST_CASE("after READY=1 the device is fed by WATCHDOG=1 and by nothing else") {
  Bench bench;
  CHECK(feeds(bench.notified("STATUS=running\nREADY=1\n")) == 1);
  CHECK(bench.phase() == Phase::watching);
  for (int i = 0; i < 100; ++i) {
    CHECK(bench.wait(30s).empty());
    CHECK(feeds(bench.notified("WATCHDOG=1")) == 1);
  }
  CHECK(bench.notified("STATUS=still running\n").empty());

  const Actions actions = bench.wait(1h);

  CHECK(feeds(actions) == 0);
  CHECK(log_of(actions) ==
        "no WATCHDOG=1 for 45s: unless it comes, the device resets the machine within 15s\n");
}

TEST_CASE("a program that says WATCHDOG=1 again in time is fed for again") {
  Bench bench;
  bench.notified("READY=1");
  bench.wait(50s);

  const Actions actions = bench.notified("WATCHDOG=1");

  CHECK(feeds(actions) == 1);
  CHECK(log_of(actions) == "WATCHDOG=1 comes again\n");
  CHECK(bench.wait(44s).empty());
}

TEST_CASE("without a start timeout it feeds for as long as the program starts") {
  Bench bench({.device_timeout = 60s, .start_timeout = 0s, .stop_timeout = 1s});

  CHECK(feeds(bench.wait(24h)) == 4 * 60 * 24);
}

TEST_CASE("EXTEND_TIMEOUT_USEC= moves the deadline of a start and of a stop, and never back") {
  Bench bench;
  bench.notified("EXTEND_TIMEOUT_USEC=1");
  CHECK(bench.wait(4min).size() == 16);
  bench.notified("EXTEND_TIMEOUT_USEC=600000000\nSTATUS=\n");
  CHECK(log_of(bench.wait(9min)).empty());
  CHECK_FALSE(log_of(bench.wait(2min)).empty());
  bench.signalled(SIGTERM);
  bench.notified("EXTEND_TIMEOUT_USEC=600000000");
  CHECK(log_of(bench.wait(9min)).empty());
  CHECK_FALSE(log_of(bench.wait(2min)).empty());
}

TEST_CASE("a program that says WATCHDOG=trigger is not fed for again") {
  Bench bench;
  bench.notified("READY=1");

  CHECK(log_of(bench.notified("WATCHDOG=trigger")) ==
        "the program says WATCHDOG=trigger: the device is not fed any more, and resets the "
        "machine within 60s\n");

  CHECK(bench.notified("WATCHDOG=1").empty());
  CHECK(bench.wait(1h).empty());
}

TEST_CASE("all signals are passed on, and only two of them request a stop") {
  for (const int number : {SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGALRM, SIGRTMIN + 1}) {
    Bench bench;
    bench.notified("READY=1");
    CHECK(bench.signalled(number) == Actions{PassOnSignal{number}});
    CHECK_FALSE(end_of(bench.exits(0)).stop_device);
  }
  for (const int number : {SIGTERM, SIGINT}) {
    Bench bench;
    bench.notified("READY=1");
    CHECK(bench.signalled(number) == Actions{Feed{}, PassOnSignal{number}});
    CHECK(bench.phase() == Phase::stopping);
  }
}

TEST_CASE("while a stop takes its time the device is fed, and no longer than the stop timeout") {
  Bench bench;
  bench.notified("READY=1");
  bench.signalled(SIGTERM);
  CHECK(feeds(bench.wait(1min)) == 4);
  bench.signalled(SIGTERM);  // a second SIGTERM does not restart the stop timeout

  const Actions actions = bench.wait(1h);

  CHECK(feeds(actions) == 3);
  CHECK(log_of(actions) ==
        "the program has not ended within the stop timeout: the device is not fed any more, and "
        "resets the machine within 60s\n");
}

TEST_CASE("a program that has hung is fed for again while it is stopped") {
  Bench bench;
  bench.notified("READY=1");
  bench.wait(55s);

  CHECK(feeds(bench.signalled(SIGTERM)) == 1);
  CHECK(feeds(bench.wait(30s)) == 2);
}

TEST_CASE("after a requested stop the device is stopped, however the program ends") {
  for (const int status : {0, 1, 3}) {
    Bench bench;
    bench.signalled(SIGTERM);
    CHECK(end_of(bench.exits(status)) == Leave{.stop_device = true, .status = status});
  }
  Bench bench;
  bench.signalled(SIGINT);
  CHECK(end_of(bench.is_killed(SIGKILL)) == Leave{.stop_device = true, .status = 128 + SIGKILL});
}

TEST_CASE("a program that stops by itself, and exits with status 0, leaves the device stopped") {
  Bench bench;
  bench.notified("READY=1");

  CHECK(feeds(bench.notified("STOPPING=1\nSTATUS=stopping\n")) == 1);

  CHECK(bench.phase() == Phase::stopping);
  CHECK(end_of(bench.exits(0)) == Leave{.stop_device = true, .status = 0});
}

TEST_CASE("every other end leaves the device armed, and the log says so") {
  Bench without_words;
  without_words.notified("READY=1");
  const Actions actions = without_words.exits(0);
  CHECK(end_of(actions) == Leave{.stop_device = false, .status = 0});
  CHECK(log_of(actions) ==
        "the program exited with status 0, and no stop was requested: the device stays armed, "
        "and resets the machine within 60s unless notify-watchdog is started again\n");

  Bench with_failure;
  with_failure.notified("STOPPING=1");
  CHECK(end_of(with_failure.exits(1)) == Leave{.stop_device = false, .status = 1});

  Bench crashed;
  crashed.notified("READY=1\nSTOPPING=1");
  CHECK(end_of(crashed.is_killed(SIGSEGV)) == Leave{.stop_device = false, .status = 128 + SIGSEGV});
}

TEST_CASE("no log line promises a reset while the device is not open") {
  Bench ended;
  CHECK(ended.device_is_missing().empty());
  CHECK(log_of(ended.exits(1)) ==
        "the program exited with status 1, and no stop was requested: the device is not armed, so "
        "the machine is not reset\n");

  Bench failed;
  CHECK(failed.device_is_missing().empty());
  CHECK(log_of(failed.notified("WATCHDOG=trigger")) ==
        "the program says WATCHDOG=trigger: the device is not armed, so the machine is not "
        "reset\n");

  Bench silent;
  silent.notified("READY=1");
  CHECK(silent.device_is_missing().empty());
  CHECK(log_of(silent.wait(1min)) ==
        "no WATCHDOG=1 for 45s: the device is not armed, so the machine is not reset\n");
}

// ---- the command line and notifications

namespace {

CommandLine parse(std::vector<const char*> words) {
  words.insert(words.begin(), "notify-watchdog");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

std::string complaint(std::vector<const char*> words) {
  const CommandLine line = parse(std::move(words));
  const auto* error = std::get_if<UsageError>(&line);
  return error == nullptr ? "" : error->reason;
}

}  // namespace

TEST_CASE("without options the device and the times are those of the page") {
  const auto options = std::get<Options>(parse({"upgrader", "--trial=1s", "agent"}));

  CHECK(options.device == "/dev/watchdog");
  CHECK(options.timeout == 60s);
  CHECK(options.start_timeout == 10min);
  CHECK(options.stop_timeout == 3min);
  CHECK(options.command == std::vector<std::string>{"upgrader", "--trial=1s", "agent"});
}

TEST_CASE("every option is taken, and -- ends them") {
  const auto options =
      std::get<Options>(parse({"--device=/dev/watchdog1", "--timeout=16s", "--start-timeout=0",
                               "--stop-timeout=5s", "--", "--odd", "-x"}));

  CHECK(options.device == "/dev/watchdog1");
  CHECK(options.timeout == 16s);
  CHECK(options.start_timeout == 0s);
  CHECK(options.stop_timeout == 5s);
  CHECK(options.command == std::vector<std::string>{"--odd", "-x"});
  CHECK(parse({"--help"}) == CommandLine{HelpWanted{}});
  CHECK(parse({"--timeout=1s", "-h"}) == CommandLine{HelpWanted{}});
  CHECK(parse({"--version"}) == CommandLine{VersionWanted{}});
}

TEST_CASE("a command line that is wrong is refused by the argument and what is allowed") {
  CHECK(complaint({}) == "PROGRAM is missing: notify-watchdog [options] PROGRAM [ARG ...]");
  CHECK(complaint({"--"}) == "PROGRAM is missing: notify-watchdog [options] PROGRAM [ARG ...]");
  CHECK(complaint({"--device", "a"}) == "--device: needs =FILE, where FILE is a watchdog device");
  CHECK(complaint({"--timeout=0", "a"}) == "--timeout=0: must not be 0");
  CHECK(complaint({"--stop-timeout=0", "a"}) == "--stop-timeout=0: must not be 0");
  CHECK(complaint({"--start-timeout=x", "a"}) ==
        "--start-timeout=x: needs =D, where D is a whole number and ms, s, m or h, at most 24h; "
        "or 0");
  CHECK(complaint({"--timeout=1s", "--timeout=2s", "a"}) == "--timeout=2s: is given twice");
  CHECK(complaint({"--wait=1s", "a"}) == "--wait=1s: no such option; --help names them all");
}

TEST_CASE("a notification is taken apart line by line") {
  CHECK(parse_notification("") == Notification{});
  CHECK(parse_notification("\n\nREADY=1") == Notification{.ready = true});
  CHECK(parse_notification("READY=1\nSTOPPING=1\nWATCHDOG=1\n") ==
        Notification{.ready = true, .stopping = true, .alive = true});
  CHECK(parse_notification("WATCHDOG=trigger") == Notification{.failed = true});
  CHECK(parse_notification("READY=0\nREADY=11\n READY=1\nready=1\nWATCHDOG_USEC=1") ==
        Notification{});
}

TEST_CASE("a time is rounded up to milliseconds and is at most a day") {
  const auto extend = [](std::string_view text) { return parse_notification(text).extend; };

  CHECK(extend("EXTEND_TIMEOUT_USEC=1") == 1ms);
  CHECK(extend("EXTEND_TIMEOUT_USEC=1500000\n") == 1500ms);
  CHECK(extend("EXTEND_TIMEOUT_USEC=18446744073709551615") == 24h);
  CHECK(extend("EXTEND_TIMEOUT_USEC=0") == std::nullopt);
  CHECK(extend("EXTEND_TIMEOUT_USEC=") == std::nullopt);
  CHECK(extend("EXTEND_TIMEOUT_USEC=1s") == std::nullopt);
  CHECK(extend("EXTEND_TIMEOUT_USEC=-1") == std::nullopt);
}

// ---- the socket for notifications

namespace {

// Sends notifications to the socket as fast as possible, until `over` is set.
void flood(const std::string& name, const std::atomic<bool>& over) {
  const upgrader::OwnedFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data() + 1, name.size() - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  while (!over) {
    static_cast<void>(::sendto(socket.get(), "STATUS=x", 8, 0,
                               reinterpret_cast<const sockaddr*>(&address), size));
  }
}

}  // namespace

TEST_CASE("however fast notifications come, a turn ends, and reads no more than its share") {
  NotifySocket socket;
  REQUIRE(socket.open(nullptr));
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] { flood(socket.name(), over); });
  for (int turn = 0; turn < 100; ++turn)
    CHECK(socket.take().size() <= datagrams_in_turn);
  over = true;
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace notify_watchdog_test
